import Foundation
import TestSupport
import Testing

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
    import enum OperationEngine.QualityOfService
    import OperationEngineProgress
#endif

@Suite("A program written for Foundation", .blocking)
struct ProgramTests {
    private func url(_ text: String) -> URL {
        URL(string: "data:text/plain;base64,\(Data(text.utf8).base64EncodedString())")!
    }

    @Test("downloads, adapters and filters across three queues")
    func importPhotos() {
        let notified = Counter()
        let imported = PhotoImport()
        let token = NotificationCenter.default.addObserver(forName: .downloadDidFinish, object: nil, queue: nil) {
            if let download = $0.object as? DownloadOperation, imported.downloads.operations.contains(download) {
                notified.add($0.userInfo?["bytes"] as? Int ?? 100)
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let names = (0..<20).map { "photo-\($0)" }
        for name in names { imported.add(name, from: url(name)) }
        imported.waitUntilDone()
        #expect(imported.photos == Dictionary(uniqueKeysWithValues: names.map { ($0, swapped($0)) }))
        #expect(eventually("all completion blocks have run") { imported.finished.count == 20 })
        #expect(notified.value == names.reduce(0) { $0 + $1.utf8.count })
    }

    private func swapped(_ text: String) -> String { String(decoding: text.utf8.map { $0 ^ 0x20 }, as: UTF8.self) }

    @Test("paused, reordered by priority, resumed")
    func pause() {
        let imported = PhotoImport(parallel: 1)
        imported.pause()
        imported.add("low", from: url("low"), priority: .veryLow)
        imported.add("normal", from: url("normal"))
        imported.add("high", from: url("high"), priority: .veryHigh)
        #expect(imported.pendingDownloads.count == 3 && imported.downloads.operationCount == 3)
        imported.resume()
        imported.waitUntilDone()
        #expect(eventually("all completion blocks have run") { imported.finished.count == 3 })
        #expect(imported.photos["high"] == "HIGH")
    }

    @Test("cancelled while it is paused: everything ends, and nothing is downloaded")
    func cancelAll() {
        let imported = PhotoImport()
        imported.pause()
        let last = imported.add("never", from: url("never"))
        imported.cancel()
        imported.resume()
        imported.waitUntilDone()
        #expect(last.isCancelled && last.isFinished && imported.photos.isEmpty)
        #expect(imported.downloads.operationCount == 0)
    }

    @Test("a download that fails ends too")
    func failure() {
        let download = DownloadOperation(url: URL(string: "nowhere:x")!)
        let queue = OperationQueue()
        queue.addOperations([download], waitUntilFinished: true)
        #expect(download.failure != nil && download.data.isEmpty)
    }

    @Test("an operation that retries, with operations in a queue of its own")
    func retries() {
        let lucky = RetryingOperation(attempts: 5) { $0 == 3 }
        let unlucky = RetryingOperation(attempts: 4) { _ in false }
        let queue = OperationQueue()
        let after = BlockOperation()
        after.addDependency(lucky)
        after.addDependency(unlucky)
        queue.addOperations([after, lucky, unlucky], waitUntilFinished: true)
        #expect(lucky.hasSucceeded && lucky.tried == 3)
        #expect(!unlucky.hasSucceeded && unlucky.tried == 4 && after.isFinished)
    }

    @Test("questions that hold their slots until they are answered, from whichever thread")
    func questions() {
        let questions = (0..<6).map { _ in QuestionOperation() }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let log = Recorder<String>()
        let report = BlockOperation {
            log.append(questions.compactMap(\.answer).joined(separator: " "))
        }
        for question in questions { report.addDependency(question) }
        OperationQueue().addOperation(report)
        questions[5].cancel()
        queue.addOperations(questions, waitUntilFinished: false)
        for (index, question) in questions.dropLast().enumerated() {
            #expect(eventually("it is asked") { question.isExecuting })
            #expect(questions.filter(\.isExecuting).count <= 2)
            onNewThread { question.reply("\(index)") }
        }
        report.waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["0 1 2 3 4 "] && queue.operationCount == 0)
    }

    @Test("an operation that is not ready until its gate opens")
    func gated() {
        let gated = GatedOperation()
        let free = BlockOperation()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.addOperations([gated, free], waitUntilFinished: false)
        free.waitUntilFinished()
        #expect(!gated.isFinished && queue.operations.contains(gated))
        gated.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(gated.isFinished)
    }

    @Test("results shown on the main queue, work on the program's own dispatch queue")
    func mainQueue() {
        let key = DispatchSpecificKey<String>()
        let dispatchQueue = DispatchQueue(label: "work", attributes: .concurrent)
        dispatchQueue.setSpecific(key: key, value: "work")
        let queue = OperationQueue()
        queue.underlyingQueue = dispatchQueue
        let shown = Recorder<String>()
        let done = Counter()
        for index in 0..<10 {
            let work = BlockOperation {
                shown.append(OperationQueue.current === queue ? DispatchQueue.getSpecific(key: key) ?? "" : "elsewhere")
            }
            let show = BlockOperation {
                shown.append(OperationQueue.current === OperationQueue.main ? "main \(index)" : "elsewhere")
            }
            show.addDependency(work)
            show.completionBlock = { done.add() }
            OperationQueue.main.addOperation(show)
            queue.addOperation(work)
        }
        done.wait(for: 10)
        #expect(shown.entries.filter { $0 == "work" }.count == 10)
        #expect(Set(shown.entries) == Set((0..<10).map { "main \($0)" } + ["work"]))
    }

    @Test("a barrier between two stages")
    func barrier() {
        let queue = OperationQueue()
        let log = Recorder<String>()
        for _ in 0..<4 { queue.addOperation { log.append("a") } }
        queue.addBarrierBlock { log.append("|") }
        for _ in 0..<4 { queue.addOperation { log.append("b") } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.joined() == "aaaa|bbbb")
    }

    @Test("the progress of a queue")
    func progress() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.progress.totalUnitCount = 4
        let seen = Recorder<Int64>()
        for _ in 0..<4 { queue.addOperation { [unowned queue] in seen.append(queue.progress.completedUnitCount) } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [0, 1, 2, 3])
        #expect(queue.progress.completedUnitCount == 4 && queue.progress.fractionCompleted == 1)
    }

    @Test("operations started by hand")
    func byHand() {
        let first = BlockOperation()
        let second = FilterOperation(source: "x")
        second.addDependency(first)
        #expect(!performOperation(second) && performOperation(first) && performOperation(second))
        #expect(first.isFinished && second.isFinished)
        let question = QuestionOperation()
        #expect(performOperation(question))
        #expect(eventually("it is asked") { question.isExecuting })
        question.reply("yes")
        #expect(question.isFinished)
        let cancelled = FilterOperation(source: "y")
        cancelled.input = Data([1])
        cancelled.cancel()
        #expect(performOperation(cancelled) && cancelled.isFinished && cancelled.output.isEmpty)
    }

    @Test("operations as objects: equality that a subclass decides, sets, descriptions, delegates")
    func objects() {
        let (a, b, other) = (FilterOperation(source: "a"), FilterOperation(source: "a"), FilterOperation(source: "b"))
        #expect(a == b && a != other && a.hash == b.hash && a.isEqual(b) && !a.isEqual("a"))
        #expect(Set<Operation>([a, b, other]).count == 2)
        #expect("\(a)" == "filter for a")
        let plain: [Operation: Int] = [Operation(): 1, BlockOperation(): 2]
        #expect(plain.count == 2 && plain[a] == nil)
        let delegate: any NSObjectProtocol = DownloadOperation(url: url(""))
        #expect(!delegate.isProxy() && delegate.isEqual(delegate.`self`()) && !delegate.debugDescription.isEmpty)
    }

    @Test("subclasses of the queue, and the program's own names that the library uses inside")
    func subclasses() {
        final class CountingQueue: OperationQueue, @unchecked Sendable {
            let added = Counter()
            override func addOperation(_ operation: Operation) {
                added.add()
                super.addOperation(operation)
            }
        }
        final class Busy: Operation, @unchecked Sendable {
            var queue: String?
            var next: Busy?
            var previous: Busy?
            var sequence = 0
            var details: [String] = []
            let observers = Counter()
            override func main() { observers.add(sequence) }
        }
        let queue = CountingQueue()
        let operations = (0..<10).map { index in
            let operation = Busy()
            operation.sequence = index
            return operation
        }
        for (first, second) in zip(operations, operations.dropFirst()) {
            first.next = second
            second.previous = first
            second.addDependency(first)
        }
        for operation in operations.reversed() { queue.addOperation(operation) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.added.value == 10 && operations.allSatisfy { $0.observers.value == $0.sequence })
    }
}
