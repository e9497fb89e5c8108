import CLinux
import Dispatch
import Glibc
import OperationEngine

import struct Foundation.Date
import class Foundation.RunLoop
import class Foundation.Thread

/// The server of the main queue.
enum MainServer: String, CaseIterable {
    case runLoop = "run-loop"
    case runMain = "run-main"
    /// Ends the main thread: the main queue is served by threads of Dispatch.
    case dispatchMain = "dispatch-main"

    var keepsMainThread: Bool { self != .dispatchMain }
}

/// Gives the main thread to the server that the scenario's first argument names, and runs `body` on another thread; the
/// scenario has passed when it returns.
func servingMain(_ scenario: String, _ arguments: [String], _ body: @escaping @Sendable (MainServer) -> Void) -> Never {
    guard let server = arguments.first.flatMap(MainServer.init(rawValue:)) else {
        fail("\(scenario) needs one of \(MainServer.allCases.map(\.rawValue).joined(separator: " "))")
    }
    Thread.detachNewThread {
        body(server)
        print("\(scenario): passed")
        exit(0)
    }
    switch server {
    case .runLoop: while true { RunLoop.main.run(until: .distantFuture) }
    case .runMain: OperationQueue.runMain()
    case .dispatchMain: dispatchMain()
    }
}

var isOnMainThread: Bool { clinux_gettid() == getpid() }

/// A log of the main queue, whose entries never overlap: a plain array, so that an overlap is a data race.
final class SerialLog<Entry>: @unchecked Sendable {
    private(set) var entries: [Entry] = []
    private var isInside = false

    func append(_ entry: Entry) {
        expect(!isInside, "two at once on the main queue")
        isInside = true
        entries.append(entry)
        isInside = false
    }
}
