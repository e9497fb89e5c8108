import OperationEngine
import TestSupport

/// One observation of one property, and what it heard.
final class Watch: Sendable {
    enum Key: CaseIterable, Sendable { case isReady, isExecuting, isFinished, isCancelled }

    struct Notice: Sendable {
        let time: UInt64
        let isPrior: Bool
        let new: Bool?
        /// The operation's own state at that moment.
        let isExecuting: Bool
        let isFinished: Bool
    }

    let key: Key
    /// Registered before anybody else knew of the operation.
    let isFromBirth: Bool
    let registered: UInt64
    private let token: Guarded<Observation?>
    private let heard: Guarded<[Notice]>
    /// The time of the request to end; 0 if never.
    private let ended = Guarded(History.Span(begin: 0, end: 0))

    init(_ subject: Subject, _ key: Key, atBirth: Bool) {
        self.key = key
        isFromBirth = atBirth
        let heard = Guarded<[Notice]>([])
        self.heard = heard
        let program = subject.program
        // Of a class that announces its end while the engine runs its `start`.
        let mayBeBoth = subject.kind.isOwnEnd && subject.kind.mayEndEarly
        let path: KeyPath<Operation, Bool> =
            switch key {
            case .isReady: \.isReady
            case .isExecuting: \.isExecuting
            case .isFinished: \.isFinished
            case .isCancelled: \.isCancelled
            }
        let observation = subject.operation?.observe(path, options: [.new, .prior]) { operation, change in
            let time = program.history.mark()
            let isFinished = operation.isFinished
            let isExecuting = operation.isExecuting
            if isFinished, isExecuting, !mayBeBoth {
                program.run.violated("\(subject) executes and is finished (contract A3)")
            }
            let notice = Notice(
                time: time, isPrior: change.isPrior, new: change.newValue, isExecuting: isExecuting,
                isFinished: isFinished)
            heard.withLock { $0.append(notice) }
            if key == .isFinished { program.isAt(.inObserver, of: subject) }
            program.run.advance()
        }
        token = Guarded(observation)
        registered = program.history.markCall()
    }

    var notices: [Notice] { heard.read() }
    /// When the first call to end it began, and when one had returned.
    var ending: History.Span { ended.read() }
    var isEnded: Bool { ending.begin != 0 }

    func end(_ history: History) {
        let span = history.span { token.withLock { $0?.invalidate() } }
        // Two threads may do so.
        ended.withLock { first in
            first =
                first.begin == 0
                ? span : History.Span(begin: min(first.begin, span.begin), end: min(first.end, span.end))
        }
    }
}

extension Program {
    func watch(_ subject: Subject, atBirth: Bool) {
        for key in Watch.Key.allCases {
            let watch = Watch(subject, key, atBirth: atBirth)
            subject.watches.withLock { $0.append(watch) }
        }
    }

    /// An observer comes, or one goes.
    func comeAndGo(_ subject: Subject, _ random: inout SeededGenerator) {
        let present = subject.watches.read()
        if present.isEmpty || Bool.random(using: &random) {
            guard subject.operation != nil else { return }
            let watch = Watch(subject, Watch.Key.allCases.randomElement(using: &random)!, atBirth: false)
            subject.watches.withLock { $0.append(watch) }
        } else {
            present.randomElement(using: &random)!.end(history)
        }
    }
}
