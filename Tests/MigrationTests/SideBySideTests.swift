import Foundation
import OperationEngine
import TestSupport
import Testing

private typealias EngineOperation = OperationEngine.Operation
private typealias EngineQueue = OperationEngine.OperationQueue

/// Both libraries in one file: for a program that moves a part at a time.
@Suite("Foundation's queues and the engine's side by side", .blocking)
struct SideBySideTests {
    @Test("names with their module: an operation of either library waits for one of the other by a block")
    func together() {
        let log = Recorder<String>()
        let (old, new) = (Foundation.OperationQueue(), EngineQueue())
        let second = OperationEngine.BlockOperation { log.append("engine") }
        let opening = OperationEngine.BlockOperation()
        second.addDependency(opening)
        let first = Foundation.BlockOperation { log.append("Foundation") }
        first.completionBlock = { new.addOperation(opening) }
        new.addOperation(second)
        old.addOperation(first)
        second.waitUntilFinished()
        #expect(log.entries == ["Foundation", "engine"])
    }

    @Test("quality of service: cases without a type need no module's name; raw values are those of Apple's platforms")
    func qualityOfService() {
        let operation = EngineOperation()
        operation.qualityOfService = .utility
        #expect(operation.qualityOfService == .utility)
        let all: [OperationEngine.QualityOfService] = [
            .userInteractive, .userInitiated, .utility, .background, .default,
        ]
        #expect(all.map(\.rawValue) == [33, 25, 17, 9, -1])
        #expect(Foundation.QualityOfService.utility.rawValue == 2)
    }

    @Test("a queue that one of Foundation's calls asks for is Foundation's")
    func foreignCalls() {
        let called = Gate("the notification comes")
        let name = Notification.Name("side by side")
        let (center, queue) = (NotificationCenter(), Foundation.OperationQueue())
        let token = center.addObserver(forName: name, object: nil, queue: queue) { _ in
            let work = EngineOperation()
            work.completionBlock = { called.open() }
            EngineQueue().addOperation(work)
        }
        center.post(name: name, object: nil)
        called.wait()
        center.removeObserver(token)
    }
}
