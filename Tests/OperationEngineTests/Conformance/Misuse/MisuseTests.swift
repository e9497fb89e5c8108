import OperationEngine
import TestSupport
import Testing

@Suite("R: misuse", .blocking)
struct MisuseTests {
    @Test(
        "the handler is called once; if it returns, the call has no effect",
        .contract("R", "B4", "B5", "B6", "B9", "B10", "D1", "D23", "E17", "I9", "K7", "M6", "N5", "O5", "P5"),
        arguments: Offence.all)
    func handlerReturns(offence: Offence) async {
        await #expect(processExitsWith: .success) { [name = offence.name as String] in
            let offence = Offence.named(name)
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            Misuse.isStrict = offence.isStrict
            #expect(offence.commit())
            #expect(reports.entries == [offence.misuse])
        }
    }

    @Test(
        "the default handler prints the message and traps",
        .contract("R", "B4", "B5", "B6", "B9", "B10", "D1", "D23", "E17", "I9", "K7", "M6", "N5", "O5", "P5"),
        arguments: Offence.all)
    func defaultTraps(offence: Offence) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [name = offence.name as String] in
            let offence = Offence.named(name)
            Misuse.isStrict = offence.isStrict
            _ = offence.commit()
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains(offence.message))
    }

    @Test("what only strict mode forbids is not reported otherwise", .contract("R", "B4", "I9"))
    func lenient() async {
        await #expect(processExitsWith: .success) {
            #expect(!Misuse.isStrict)
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            for offence in Offence.all where offence.isStrict && offence.name != "completionWhileExecuting" {
                _ = offence.commit()
            }
            #expect(reports.entries.isEmpty)
        }
    }

    @Test("an end without a start is printed by the default handler, which goes on", .contract("R", "C9"))
    func finishWithoutStart() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let queue = makeQueue(suspended: true)
            let operation = AsynchronousOperation()
            queue.addOperation(operation)
            operation.end()
            #expect(operation.isFinished && operation.starts.value == 0)
            #expect(queue.operationCount == 0 && queue.operations.isEmpty)
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let line = try #require(output.split(separator: "\n").first { $0.contains("went isFinished=YES") })
        #expect(line.hasPrefix("OperationEngine: *** <AsynchronousOperation 0x"))
        #expect(line.hasSuffix("went isFinished=YES without being started by the queue it is in"))
    }

    @Test("where a handler returns, the operation leaves its queue all the same", .contract("R", "C9"))
    func finishWithoutStartHandled() async {
        await #expect(processExitsWith: .success) {
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let runs = Counter()
            let queue = makeQueue(limit: 1, suspended: true)
            let operation = AsynchronousOperation()
            let description = operation.description
            queue.addOperation(operation)
            queue.addOperation { runs.add() }
            operation.end()
            #expect(queue.operationCount == 1 && reports.entries.count == 1)
            if case .finishWithoutStart(let named) = reports.entries.first {
                #expect(named.split(separator: " ").prefix(2) == description.split(separator: " ").prefix(2))
            } else {
                Issue.record("another misuse, or none")
            }
            queue.isSuspended = false
            drains(queue)
            #expect(runs.value == 1)
        }
    }

    @Test(
        "a batch with an invalid member is refused as a whole", .contract("M5"),
        arguments: ["finished", "executing", "queued"])
    func batch(kind: String) async {
        await #expect(processExitsWith: .success) { [kind] in
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let invalid = Blocker()
            let holder = makeQueue()
            switch kind {
            case "finished":
                invalid.release.open()
                invalid.operation.start()
            case "executing": invalid.occupy(holder)
            default:
                holder.isSuspended = true
                holder.addOperation(invalid.operation)
            }
            let runs = Counter()
            let valid = (0..<4).map { _ in MainOperation { _ in runs.add() } }
            let queue = makeQueue()
            let mixed = [valid[0], valid[1], invalid.operation, valid[2], valid[3]]
            synchronously { queue.addOperations(mixed, waitUntilFinished: true) }
            #expect(reports.entries.count == 1)
            #expect(queue.operationCount == 0 && runs.value == 0)
            #expect(valid.allSatisfy { StateFlags($0) == StateFlags(Operation()) })
            // The valid ones are free to go elsewhere.
            let other = makeQueue()
            synchronously { other.addOperations(valid, waitUntilFinished: true) }
            #expect(runs.value == 4)
            invalid.release.open()
            holder.isSuspended = false
            synchronously { holder.waitUntilAllOperationsAreFinished() }
        }
    }

    @Test("every case has a message of its own", .contract("R"))
    func messages() {
        let messages = Set(Offence.all.map { $0.misuse.description })
        #expect(messages.count == Set(Offence.all.map { $0.misuse }).count)
        #expect(Misuse.negativeLimit(-7).description.contains("-7"))
    }

    @Test("the handler and the mode can be read back", .contract("R"))
    func settings() async {
        await #expect(processExitsWith: .success) {
            let told = Counter()
            Misuse.handler = { _ in told.add() }
            Misuse.handler(.startNotReady)
            Misuse.isStrict = true
            #expect(told.value == 1 && Misuse.isStrict)
        }
    }
}
