import Dispatch
import OperationEngine
import Synchronization
import TestSupport
import Testing

// The code of the documentation's articles: the lines between "example" and "end of example" are shown there.

// example: word-count
/// Counts the words of a text.
final class WordCount: Operation, @unchecked Sendable {
    let text: String
    /// Written by `main`; read it once the operation is finished.
    private(set) var count = 0

    init(text: String) { self.text = text }

    override func main() {
        for _ in text.split(separator: " ") {
            if isCancelled { return }
            count += 1
        }
    }
}
// end of example

// example: download
/// Ends when the work that it has begun elsewhere says so.
final class Download: Operation, @unchecked Sendable {
    private enum State: Int {
        case waiting, executing, finished
    }
    private let state = Atomic<Int>(State.waiting.rawValue)
    private let begin: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    init(begin: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) { self.begin = begin }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.load(ordering: .acquiring) == State.executing.rawValue }
    override var isFinished: Bool { state.load(ordering: .acquiring) == State.finished.rawValue }

    override func start() {
        guard !isCancelled else {
            willChangeValue(forKey: "isFinished")
            enter(.finished)
            return didChangeValue(forKey: "isFinished")
        }
        willChangeValue(forKey: "isExecuting")
        enter(.executing)
        didChangeValue(forKey: "isExecuting")
        begin { self.end() }
    }

    private func enter(_ next: State) { state.store(next.rawValue, ordering: .releasing) }

    private func end() {
        willChangeValue(forKey: "isFinished")
        willChangeValue(forKey: "isExecuting")
        enter(.finished)
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
// end of example

@Suite("The documentation's examples", .blocking)
struct FirstQueueTests {
    @Test("the landing page")
    func landingPage() {
        let log = Recorder<String>()
        let print = { @Sendable (text: String) in log.append(text) }
        // example: landing-page
        //: import OperationEngine
        //:
        let queue = OperationQueue()
        let load = BlockOperation { print("load") }
        let draw = BlockOperation { print("draw") }
        draw.addDependency(load)
        queue.addOperations([draw, load], waitUntilFinished: true)
        // end of example
        #expect(log.entries == ["load", "draw"])
    }

    @Test("a program")
    func program() {
        let log = Recorder<String>()
        let print = { @Sendable (text: String) in log.append(text) }
        // example: program
        //: import OperationEngine
        //:
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let pages = ["a", "b", "c"].map { name in BlockOperation { print("page \(name)") } }
        let index = BlockOperation { print("index") }
        for page in pages { index.addDependency(page) }
        queue.addOperations([index] + pages, waitUntilFinished: true)
        // end of example
        #expect(Set(log.entries) == ["page a", "page b", "page c", "index"] && log.entries.last == "index")
    }

    @Test("a queue, a subclass, dependencies, a limit and priorities")
    func firstQueue() {
        let log = Recorder<String>()
        let print = { @Sendable (text: String) in log.append(text) }
        // example: first-block
        let queue = OperationQueue()
        queue.addOperation { print("hello from a thread of the pool") }
        queue.waitUntilAllOperationsAreFinished()
        // end of example
        #expect(log.entries == ["hello from a thread of the pool"])

        // example: subclass-in-queue
        let count = WordCount(text: "one two three")
        count.completionBlock = { print("counted") }
        queue.addOperation(count)
        count.waitUntilFinished()
        print("\(count.count) words")
        // end of example
        #expect(count.count == 3 && log.entries.contains("3 words"))

        // example: dependencies
        let counts = ["a b", "c d e", "f"].map(WordCount.init)
        let sum = BlockOperation { print("\(counts.map(\.count).reduce(0, +)) words in all") }
        for count in counts { sum.addDependency(count) }
        queue.addOperations(counts + [sum], waitUntilFinished: true)
        // end of example
        #expect(log.entries.contains("6 words in all"))
    }

    @Test("a serial queue: the order is readiness, priority, adding")
    func order() {
        let log = Recorder<String>()
        let print = { @Sendable (text: String) in log.append(text) }
        // example: order
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let urgent = BlockOperation { print("urgent") }
        urgent.queuePriority = .high
        queue.addOperation { print("first") }
        queue.addOperation { print("second") }
        queue.addOperation(urgent)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()  // urgent, first, second
        // end of example
        #expect(log.entries == ["urgent", "first", "second"])
    }

    @Test("cancelled operations are finished without main, and unlock their dependents")
    func cancelling() {
        let log = Recorder<String>()
        let print = { @Sendable (text: String) in log.append(text) }
        // example: cancel
        let queue = OperationQueue()
        queue.isSuspended = true
        let count = WordCount(text: "never counted")
        let after = BlockOperation { print("cancelled: \(count.isCancelled), words: \(count.count)") }
        after.addDependency(count)
        queue.addOperations([count, after], waitUntilFinished: false)
        count.cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()  // cancelled: true, words: 0
        // end of example
        #expect(log.entries == ["cancelled: true, words: 0"])
    }

    @Test("an operation that ends when it says so")
    func asynchronous() {
        let log = Recorder<String>()
        let print = { @Sendable (text: String) in log.append(text) }
        // example: use-download
        let queue = OperationQueue()
        let download = Download { done in DispatchQueue.global().async(execute: done) }
        let show = BlockOperation { print("shown") }
        show.addDependency(download)
        queue.addOperations([download, show], waitUntilFinished: true)
        // end of example
        #expect(log.entries == ["shown"])
    }

    @Test("an observer of the end")
    func observing() {
        let log = Recorder<String>()
        let print = { @Sendable (text: String) in log.append(text) }
        // example: observe
        let operation = BlockOperation {}
        let token = operation.observe(\.isFinished, options: [.old, .new]) { operation, change in
            print("finished: \(change.oldValue!) → \(change.newValue!)")
        }
        operation.start()  // finished: false → true
        token.invalidate()
        // end of example
        #expect(log.entries == ["finished: false → true"])
    }

    @Test("a misuse goes to the handler")
    func misuse() async {
        await #expect(processExitsWith: .success) {
            // example: misuse
            Misuse.handler = { misuse in print("wrong: \(misuse)") }
            let operation = BlockOperation {}
            operation.start()
            // wrong: addOperation: operation is finished and cannot be enqueued
            OperationQueue().addOperation(operation)
            // end of example
        }
    }
}
