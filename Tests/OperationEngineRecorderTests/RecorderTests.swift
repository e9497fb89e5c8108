import Foundation
import OpBenchProfile
import OperationEngine
import OperationEngineRecorder
import TestSupport
import Testing

typealias OperationQueue = OperationEngine.OperationQueue
typealias Operation = OperationEngine.Operation
typealias BlockOperation = OperationEngine.BlockOperation

/// Recorders record the whole process, with all other tests in it: these tests run one at a time and look at queues of
/// their own, and those that need every event record another program.
@Suite("A recorded program", .serialized, .blocking)
struct RecorderTests {
    @Test("many threads at once: every event is recorded or counted", arguments: [4, 1 << 11])
    func many(piece: Int) throws {
        let path = TemporaryFolder.unusedPath()
        let recorder = TraceRecorder(
            to: path, limit: 1 << 30, measuresProcessorTime: false, piece: piece, mostPieces: 16)
        let queues = (0..<4).map { _ in OperationQueue() }
        for (index, queue) in queues.enumerated() { queue.name = "many \(index) \(piece)" }
        let each = Scale.of(2_000)
        try recorder.start()
        Thread.concurrently(4) { index in
            for _ in 0..<each { queues[index].addOperation {} }
            queues[index].waitUntilAllOperationsAreFinished()
        }
        recorder.stop()
        let recording = try Recording.read(path)
        let names = Set(queues.map { $0.name ?? "" })
        let trace = recording.trace
        let whole = trace.operations.count { names.contains(trace.queues[Int($0.queue)].name) && $0.wasExecuted }
        if recording.lostEvents == 0 {
            #expect(whole == 4 * each)
        } else {
            #expect(whole <= 4 * each && whole + recording.lostEvents >= 4 * each)
        }
    }

    @Test("a second recording, and one recorder at a time for itself")
    func again() throws {
        let path = TemporaryFolder.unusedPath()
        let recorder = TraceRecorder(to: path + "-%p")
        #expect(recorder.path == "\(path)-\(getpid())")
        for _ in 0..<2 {
            let earliest = DispatchTime.now().uptimeNanoseconds
            try recorder.start()
            #expect(throws: TraceRecorder.Failure.isRecording) { try recorder.start() }
            let second = TraceRecorder(to: recorder.path)
            #expect(throws: TraceRecorder.Failure.inUse(path: recorder.path)) { try second.start() }
            BlockOperation {}.start()
            recorder.stop()
            recorder.stop()
            let recording = try Recording.read(recorder.path)
            #expect(!recording.isCut)
            #expect((earliest...DispatchTime.now().uptimeNanoseconds).contains(UInt64(recording.clockStart)))
        }
        let nowhere = TraceRecorder(to: TemporaryFolder.unusedPath() + "/no/such/folder")
        let failure = TraceRecorder.Failure.file(path: nowhere.path, errno: ENOENT)
        #expect(throws: failure) { try nowhere.start() }
    }

    @Test("a long recording keeps its last part and the one before")
    func rotation() throws {
        let path = TemporaryFolder.unusedPath()
        let recorder = TraceRecorder(to: path, limit: 1 << 20, measuresProcessorTime: false)
        let queue = OperationQueue()
        queue.name = "rotated"
        queue.maxConcurrentOperationCount = 1
        try recorder.start()
        for _ in 0..<40 {
            for _ in 0..<500 { queue.addOperation {} }
            queue.waitUntilAllOperationsAreFinished()
        }
        recorder.stop()
        let sizes = try [path, path + ".1"].map { path in
            try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        }
        #expect(sizes.allSatisfy { $0 <= 1 << 19 })
        let recording = try Recording.read(path)
        #expect(recording.missingParts > 0 && !recording.isCut)
        #expect(recording.trace.queues.contains { $0.name == "rotated" && $0.limit == 1 })
    }

    @Test("a pipe that nobody empties: the program goes on, and what is lost is counted")
    func slowDisk() throws {
        let path = TemporaryFolder.unusedPath()
        try #require(mkfifo(path, 0o600) == 0)
        let reading = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reading) }
        let recorder = TraceRecorder(
            to: path, limit: 1 << 30, measuresProcessorTime: false, piece: 16, mostPieces: 4)
        try recorder.start()
        let queue = OperationQueue()
        // The pipe has room for 64 KiB, some 400 of them.
        for _ in 0..<20_000 { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
        let copy = TemporaryFolder.unusedPath()
        let collected = Thread.collecting(reading, to: copy)
        recorder.stop()
        collected.wait()
        let recording = try Recording.read(copy)
        #expect(recording.lostEvents > 0 && !recording.isCut)
    }

    // MARK: Programs

    private func run(
        _ arguments: [String], path: String, input: Pipe? = nil, errors: Pipe? = nil,
        _ during: (Process, FileHandle) throws -> Void = { _ = $1.readDataToEndOfFile() }
    ) throws -> Process {
        let program = Process()
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
        program.executableURL = folder.appendingPathComponent("EngineProcess")
        program.arguments = ["recorded"] + arguments
        program.environment = ProcessInfo.processInfo.environment.merging(["OPERATION_ENGINE_RECORD": path]) { $1 }
        let output = Pipe()
        program.standardOutput = output
        program.standardError = errors ?? FileHandle.standardError
        program.standardInput = input ?? FileHandle.nullDevice
        try program.run()
        try during(program, output.fileHandleForReading)
        program.waitUntilExit()
        return program
    }

    /// The recording of a program in which nothing else runs: its rings have room for all events.
    private func recorded(_ arguments: [String]) throws -> (recording: Recording, output: String) {
        let path = TemporaryFolder.unusedPath()
        var output = ""
        let program = try run(arguments, path: path) {
            output = String(decoding: $1.readDataToEndOfFile(), as: UTF8.self)
        }
        #expect(program.terminationStatus == 0)
        return (try Recording.read(path), output)
    }

    @Test("what it did is read back: queues, limits, priorities, dependencies, cancellations, closures")
    func everything() throws {
        let (recording, _) = try recorded(["everything"])
        let queue = try #require(recording.trace.queues.firstIndex { $0.name == "images" })
        #expect(recording.trace.queues[queue].limit == 3)
        let own = recording.trace.operations.indices.filter { recording.trace.operations[$0].queue == UInt16(queue) }
        let operations = own.map { recording.trace.operations[$0] }
        let details = own.map { recording.details[$0] }
        #expect(operations.count == 104 && !recording.isCut && recording.lostEvents == 0)
        #expect(operations.prefix(3).map { recording.trace.className(of: $0) } == ["Resize", "Resize", "Resize"])
        #expect(operations.prefix(3).map(\.priority) == [8, 0, 0])
        #expect(details.map(\.isClosure).count { $0 } == 100)
        #expect(details.map(\.isBarrier) == [Bool](repeating: false, count: 103) + [true])
        #expect(details.map(\.isCancelled).prefix(3) == [false, false, true])
        #expect(details[2].cancelTime != .absent && !operations[2].wasExecuted)
        for (index, operation) in operations.enumerated() where index != 2 {
            #expect(operation.wasExecuted && operation.notified != .absent)
        }
        let edge = TracedDependency(UInt32(own[0]), before: UInt32(own[1]))
        #expect(recording.trace.dependencies.filter { own.contains(Int($0.successor)) } == [edge])
        #expect(operations[0].end <= operations[1].ready)
        #expect(details[0].processorTime != .absent)
        #expect(recording.trace.spans.contains { $0.kind == .suspension && $0.queue == UInt16(queue) })
    }

    @Test("the CPU time of each operation is at least what its body took")
    func processorTimes() throws {
        let (recording, output) = try recorded(["computing"])
        let computed = output.split(separator: "\n").compactMap { Int64($0) }
        let queue = try #require(recording.trace.queues.firstIndex { $0.name == "computations" })
        let own = recording.trace.operations.indices.filter { recording.trace.operations[$0].queue == UInt16(queue) }
        #expect(own.count == 20 && computed.count == 20 && recording.lostEvents == 0)
        for (index, nanoseconds) in zip(own, computed) {
            let (operation, detail) = (recording.trace.operations[index], recording.details[index])
            #expect(detail.processorTime >= nanoseconds)
            #expect(operation.offProcessor <= operation.elapsed - nanoseconds)
            #expect(!detail.isUnblocked || operation.processorWait == operation.offProcessor)
        }
    }

    @Test("the environment switches it on; exit ends it; a forked child leaves it alone", arguments: [[], ["fork"]])
    func environment(arguments: [String]) throws {
        let path = TemporaryFolder.unusedPath()
        let program = try run(arguments, path: path + "-%p")
        #expect(program.terminationStatus == 0)
        let recording = try Recording.read(path + "-\(program.processIdentifier)")
        #expect(recording.program == "EngineProcess" && !recording.isCut && recording.partialOperations == 0)
        #expect(recording.trace.operations.count == 100)
        #expect(recording.trace.queues.map(\.name) == ["work"] && recording.trace.queues.map(\.limit) == [2])
        #expect(recording.trace.operations.allSatisfy { $0.wasExecuted })
    }

    @Test(
        "another program that finds the file in use says so in one line, and what was recorded is read whole",
        arguments: [
            (["spawn"], ""), (["exec"], ""), (["exec"], "-%p"), (["exec", "stopped"], ""),
            (["exec", "stopped"], "-%p"),
        ])
    func secondProgram(arguments: [String], suffix: String) throws {
        let (path, errors) = (TemporaryFolder.unusedPath(), Pipe())
        let program = try run(arguments, path: path + suffix, errors: errors)
        #expect(program.terminationStatus == 0)
        let file = path + (suffix.isEmpty ? "" : "-\(program.processIdentifier)")
        let lines = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains(file) }, "\(lines)")
        let recording = try Recording.read(file)
        #expect(recording.isCut == (arguments == ["exec"]) && recording.unreadBytes == 0)
        #expect(recording.trace.processID == program.processIdentifier)
        let count = recording.trace.operations.count
        #expect(arguments == ["spawn"] ? count == 200 : count >= 100)
    }

    @Test("a child that was forked does not keep the file of its parent, which was killed")
    func orphan() throws {
        let (path, input, errors) = (TemporaryFolder.unusedPath(), Pipe(), Pipe())
        let parent = try run(["orphan"], path: path, input: input)
        #expect(parent.terminationReason == .uncaughtSignal)
        let recording = try Recording.read(path)
        #expect(recording.isCut && recording.unreadBytes == 0 && recording.trace.operations.count >= 100)
        let next = try run([], path: path, errors: errors)
        #expect(next.terminationStatus == 0)
        #expect(try Recording.read(path).trace.processID == next.processIdentifier)
        try errors.fileHandleForWriting.close()
        #expect(errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
        try input.fileHandleForWriting.close()
    }

    @Test("a full disk ends the recording, whole up to its last block, and not the program")
    func full() throws {
        let none = try run([], path: "/dev/full")
        #expect(none.terminationStatus == 0)
        let path = TemporaryFolder.unusedPath()
        let program = try run(["full"], path: path)
        #expect(program.terminationStatus == 0)
        let recording = try Recording.read(path)
        #expect(recording.isCut && recording.trace.operations.count >= 100)
    }

    @Test("killed: the recording is whole up to its last block")
    func killed() throws {
        let path = TemporaryFolder.unusedPath()
        let program = try run(["forever"], path: path) { program, output in
            // It has written 8,192 events more than once by then.
            var lines = 0
            while lines < 20 { lines += output.availableData.count { $0 == UInt8(ascii: "\n") } }
            kill(program.processIdentifier, SIGKILL)
            _ = output.readDataToEndOfFile()
        }
        #expect(program.terminationReason == .uncaughtSignal)
        let recording = try Recording.read(path)
        #expect(recording.isCut && recording.trace.operations.count >= 100)
    }
}

extension Thread {
    /// Calls `body` on so many threads at once, and waits for them.
    fileprivate static func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let ends = DispatchSemaphore(value: 0)
        for index in 0..<count {
            Thread.detachNewThread {
                body(index)
                ends.signal()
            }
        }
        for _ in 0..<count { ends.wait() }
    }

    /// Copies what a pipe holds into a file, until its writer closes it.
    fileprivate static func collecting(_ pipe: Int32, to path: String) -> DispatchSemaphore {
        let end = DispatchSemaphore(value: 0)
        _ = fcntl(pipe, F_SETFL, 0)
        let source = FileHandle(fileDescriptor: pipe)
        Thread.detachNewThread {
            try? source.readDataToEndOfFile().write(to: URL(fileURLWithPath: path))
            end.signal()
        }
        return end
    }
}
