import Foundation
import FoundationNetworking

#if SCOPED_IMPORTS
    import class OperationEngine.OperationQueue
    import OperationEngineFoundation
#endif

/// Loads pages by one session, whose delegate it is. All that it holds belongs to the queue of the calls, which runs one
/// at a time: there is no lock.
final class PageLoader: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    let calls = OperationQueue()
    private(set) var session: URLSession!
    private(set) var pages: [String: String] = [:]
    private(set) var callsElsewhere = 0
    private(set) var isInvalid = false
    private var parts: [Int: Data] = [:]
    private let whenInvalid: @Sendable () -> Void

    init(whenInvalid: @escaping @Sendable () -> Void) {
        self.whenInvalid = whenInvalid
        super.init()
        calls.maxConcurrentOperationCount = 1
        calls.name = "page loader"
        session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: calls)
    }

    func load(_ urls: [URL]) {
        for url in urls { session.dataTask(with: url).resume() }
        session.finishTasksAndInvalidate()
    }

    private func note() {
        if OperationQueue.current !== calls { callsElsewhere += 1 }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note()
        parts[dataTask.taskIdentifier] = Data()
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note()
        parts[dataTask.taskIdentifier]?.append(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note()
        let text = error.map { "\($0)" } ?? String(decoding: parts[task.taskIdentifier] ?? Data(), as: UTF8.self)
        pages[task.originalRequest?.url?.lastPathComponent ?? ""] = text
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note()
        isInvalid = true
        whenInvalid()
    }
}
