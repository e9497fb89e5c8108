import OperationEngine
import Synchronization

/// The misuse that the engine reports during a round whose operations end before their time.
public enum MisuseWatch {
    /// Whether the process does nothing else than to play scenarios: then its settings are theirs.
    public static let ownsProcess = Atomic<Bool>(false)

    /// The classes whose ends come early. The engine says so of each, which is meant (contract C9).
    private static let earlyClasses = ["OwnStartOperation", "AskedOperation", "OwnEndOperation"]

    /// In strict mode, where the process is the scenarios' own: the engine's own calls must keep to it (contract B4).
    static func during(_ run: StressRun, isStrict: Bool, _ body: () -> Void) {
        let (handler, wasStrict) = (Misuse.handler, Misuse.isStrict)
        let isOwn = isStrict && ownsProcess.load(ordering: .relaxed)
        if isOwn { Misuse.isStrict = true }
        Misuse.handler = { misuse in
            switch misuse {
            case .finishWithoutStart(let operation) where earlyClasses.contains { operation.contains($0) }:
                run.advance()
            case .startFinished where isOwn:
                run.violated("the engine starts a finished operation itself (contract B4)")
            case .waitNeverEnds(let reason) where isOwn:
                run.violated("a wait is said never to end: \(reason) (contract O5)")
            default: handler(misuse)
            }
        }
        body()
        Misuse.handler = handler
        Misuse.isStrict = wasStrict
    }
}
