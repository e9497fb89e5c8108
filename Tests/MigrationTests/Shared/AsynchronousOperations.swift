// The files in this folder are a program written for Foundation, as apps have it, and its tests. They are compiled
// three times: as they were, with the imports after `#if`, and with one file more of names. Nothing else may differ.

import Foundation
import FoundationNetworking

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
    import enum OperationEngine.QualityOfService
#endif

extension Notification.Name {
    static let downloadDidFinish = Notification.Name("downloadDidFinish")
}

/// The base class that many apps have: it keeps its own state and notifies the queue by key-value observing's calls.
class StatefulOperation: Operation, @unchecked Sendable {
    enum State: String {
        case ready = "isReady"
        case executing = "isExecuting"
        case finished = "isFinished"
    }

    private let lock = NSLock()
    private var current = State.ready

    var state: State {
        get { lock.withLock { current } }
        set {
            let old = state
            willChangeValue(forKey: old.rawValue)
            willChangeValue(forKey: newValue.rawValue)
            lock.withLock { current = newValue }
            didChangeValue(forKey: old.rawValue)
            didChangeValue(forKey: newValue.rawValue)
        }
    }

    override var isReady: Bool { super.isReady && state == .ready }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }
    override var isAsynchronous: Bool { true }

    override func start() {
        guard !isCancelled else {
            state = .finished
            return
        }
        state = .executing
        main()
    }

    func finish() {
        if state == .executing { state = .finished }
    }
}

/// Loads a URL, as the delegate of its own session.
final class DownloadOperation: StatefulOperation, URLSessionDataDelegate, @unchecked Sendable {
    let url: URL
    private(set) var data = Data()
    private(set) var failure: (any Error)?
    private var task: URLSessionDataTask?

    init(url: URL) {
        self.url = url
        super.init()
        name = url.absoluteString
        qualityOfService = .userInitiated
    }

    override func main() {
        let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
        task = session.dataTask(with: url)
        task?.resume()
        session.finishTasksAndInvalidate()
    }

    override func cancel() {
        super.cancel()
        task?.cancel()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.data.append(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        failure = error
        NotificationCenter.default.post(name: .downloadDidFinish, object: self, userInfo: ["bytes": data.count])
        finish()
    }
}

/// Ends when somebody answers, with key paths instead of strings.
final class QuestionOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var hasBegun = false
    private var received: String?

    var answer: String? { lock.withLock { received } }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { hasBegun && received == nil } }
    override var isFinished: Bool { lock.withLock { received != nil } }

    override func start() {
        if isCancelled { return reply("") }
        willChangeValue(for: \.isExecuting)
        lock.withLock { hasBegun = true }
        didChangeValue(for: \.isExecuting)
    }

    func reply(_ text: String) {
        willChangeValue(for: \.isFinished)
        willChangeValue(for: \.isExecuting)
        lock.withLock { received = text }
        didChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isFinished)
    }
}

/// Tries a piece of work again, each time as an operation of its own, until it succeeds or has failed often enough.
final class RetryingOperation: StatefulOperation, @unchecked Sendable {
    private let attempts: Int
    private let queue = OperationQueue()
    private let body: @Sendable (Int) -> Bool
    private(set) var tried = 0
    private(set) var hasSucceeded = false

    init(attempts: Int, body: @escaping @Sendable (_ attempt: Int) -> Bool) {
        self.attempts = attempts
        self.body = body
        super.init()
        queue.maxConcurrentOperationCount = 1
        queue.name = "attempts"
    }

    override func main() { tryAgain() }

    private func tryAgain() {
        guard tried < attempts, !hasSucceeded, !isCancelled else { return finish() }
        tried += 1
        let attempt = BlockOperation { [unowned self] in hasSucceeded = body(tried) }
        attempt.completionBlock = { [weak self] in self?.tryAgain() }
        queue.addOperation(attempt)
    }
}

/// Waits until something outside says that it may begin.
final class GatedOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var isOpen = false

    override var isReady: Bool { lock.withLock { isOpen } && super.isReady }

    func open() {
        willChangeValue(forKey: "isReady")
        lock.withLock { isOpen = true }
        didChangeValue(forKey: "isReady")
    }
}
