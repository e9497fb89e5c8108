import Foundation
import FoundationNetworking
import TestSupport
import Testing

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
    import OperationEngineFoundation
#endif

@Suite("Foundation's calls that take a queue", .blocking)
struct CallsThatTakeQueuesTests {
    private let center = NotificationCenter()
    private let name = Notification.Name("news")

    @Test("a URL session's delegate is called in its queue, where the queue is the current one")
    func delegateQueue() throws {
        let server = try LoopbackServer()
        let invalid = Gate("the session is invalid")
        let loader = PageLoader { invalid.open() }
        let paths = (0..<8).map { "page-\($0)" }
        loader.load(paths.map(server.url))
        invalid.wait()
        loader.calls.waitUntilAllOperationsAreFinished()
        #expect(loader.pages == Dictionary(uniqueKeysWithValues: paths.map { ($0, $0) }))
        #expect(loader.isInvalid && loader.callsElsewhere == 0)
    }

    @Test("completion handlers of tasks run in the session's queue, and none while it is suspended")
    func completionHandlers() throws {
        let server = try LoopbackServer()
        let queue = OperationQueue()
        let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
        #expect(session.delegateQueue.maxConcurrentOperationCount == -1)
        session.delegateQueue.maxConcurrentOperationCount = 1
        #expect(queue.maxConcurrentOperationCount == 1)
        queue.isSuspended = true
        let (received, ended) = (Recorder<String>(), Counter())
        for path in ["a", "b"] {
            let task = session.dataTask(with: server.url(path)) { data, _, _ in
                let isHere = OperationQueue.current === queue
                received.append(String(decoding: data ?? Data(), as: UTF8.self) + (isHere ? "" : " elsewhere"))
                ended.add()
            }
            task.resume()
        }
        #expect(eventually("both tasks have ended") { queue.operationCount == 2 })
        #expect(ended.value == 0)
        queue.isSuspended = false
        ended.wait(for: 2)
        #expect(Set(received.entries) == ["a", "b"])
        session.finishTasksAndInvalidate()
    }

    @Test("a session without a queue, given as nil or in a variable that may be nil")
    func noDelegateQueue() throws {
        let server = try LoopbackServer()
        let none: OperationQueue? = nil
        let sessions = [
            URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: nil),
            URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: none),
        ]
        for session in sessions {
            let received = Gate("the handler runs")
            session.dataTask(with: server.url("x")) { _, _, _ in received.open() }.resume()
            received.wait()
            #expect(session.delegateQueue.maxConcurrentOperationCount == 1)
            session.finishTasksAndInvalidate()
        }
    }

    @Test("a session in the main queue")
    func mainDelegateQueue() throws {
        let server = try LoopbackServer()
        let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: .main)
        let seen = Recorder<OperationQueue?>()
        let received = Gate("the handler runs")
        let task = session.dataTask(with: server.url("x")) { _, _, _ in
            seen.append(OperationQueue.current)
            received.open()
        }
        task.resume()
        received.wait()
        #expect(seen.entries == [OperationQueue.main])
        session.finishTasksAndInvalidate()
    }

    @Test("what is added to a session's own delegateQueue runs in turn with its calls")
    func addedToDelegateQueue() throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
        let log = Recorder<String>()
        queue.isSuspended = true
        session.delegateQueue.addOperation { log.append(OperationQueue.current === queue ? "block" : "elsewhere") }
        session.delegateQueue.addBarrierBlock {
            log.append(OperationQueue.current === queue ? "barrier" : "elsewhere")
        }
        session.delegateQueue.addOperation { log.append("last") }
        #expect(log.entries.isEmpty && queue.operationCount == 2)
        session.delegateQueue.isSuspended = false
        session.delegateQueue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["block", "barrier", "last"])
    }

    @Test("a notification's block runs in the observer's queue before post returns, with what it has added there")
    func observerQueue() {
        let queue = OperationQueue()
        let log = Recorder<String>()
        let token = center.addObserver(forName: name, object: nil, queue: queue) {
            log.append(OperationQueue.current === queue ? $0.userInfo?["text"] as? String ?? "" : "elsewhere")
            queue.addOperation { log.append("after") }
        }
        center.post(name: name, object: nil, userInfo: ["text": "first"])
        #expect(log.entries == ["first", "after"])
        center.post(name: Notification.Name("other"), object: nil)
        center.removeObserver(token)
        center.post(name: name, object: nil)
        #expect(log.entries == ["first", "after"])
    }

    @Test("posted by an operation of the observer's queue, the block runs inside of it")
    func postedFromTheQueue() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let log = Recorder<String>()
        let token = center.addObserver(forName: name, object: nil, queue: queue) { _ in log.append("block") }
        let posting = BlockOperation { [center, name] in
            log.append("before")
            center.post(name: name, object: nil)
            log.append("after")
        }
        queue.addOperations([posting], waitUntilFinished: true)
        #expect(log.entries == ["before", "block", "after"])
        center.removeObserver(token)
    }

    @Test("the centre does not keep the queue: once it is gone the block is no longer called")
    func droppedQueue() {
        let calls = Counter()
        weak var dropped: OperationQueue?
        let token = {
            let queue = OperationQueue()
            dropped = queue
            let token = center.addObserver(forName: name, object: nil, queue: queue) { _ in calls.add() }
            center.post(name: name, object: nil)
            return token
        }()
        #expect(eventually("the queue is freed") { dropped == nil })
        center.post(name: name, object: nil)
        #expect(calls.value == 1)
        center.removeObserver(token)
    }

    @Test("an observer without a queue, given as nil or in a variable that may be nil, is called by the poster")
    func noObserverQueue() {
        let none: OperationQueue? = nil
        let threads = Recorder<Int32>()
        let tokens = [
            center.addObserver(forName: name, object: nil, queue: nil) { _ in threads.append(ThreadFacts.id) },
            center.addObserver(forName: name, object: nil, queue: none) { _ in threads.append(ThreadFacts.id) },
        ]
        center.post(name: name, object: nil)
        #expect(threads.entries == [ThreadFacts.id, ThreadFacts.id])
        for token in tokens { center.removeObserver(token) }
    }

    @Test("an observer in the main queue, and one in a variable's")
    func mainAndVariable() {
        let some: OperationQueue? = OperationQueue()
        let seen = Recorder<OperationQueue?>()
        let tokens = [
            center.addObserver(forName: name, object: nil, queue: .main) { _ in seen.append(OperationQueue.current) },
            center.addObserver(forName: name, object: nil, queue: some) { _ in seen.append(OperationQueue.current) },
        ]
        center.post(name: name, object: nil)
        #expect(seen.entries.count == 2 && Set(seen.entries) == [OperationQueue.main, some])
        for token in tokens { center.removeObserver(token) }
    }
}
