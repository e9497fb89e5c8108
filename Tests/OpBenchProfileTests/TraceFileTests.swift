import Glibc
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("The file of a trace")
struct TraceFileTests {
    private func bytes(_ trace: SampleTrace) throws -> [UInt8] {
        let collector = ByteCollector()
        try TraceFile.write(trace, to: collector)
        return collector.bytes
    }

    private func message(_ bytes: [UInt8]) -> String? {
        do {
            _ = try TraceFile.read(bytes)
            return nil
        } catch {
            return error.message
        }
    }

    @Test("A file reads back as written, whatever its content")
    func roundTrip() throws {
        var untold = Fixture.chain
        untold.waits = nil
        for trace in [Fixture.everything, untold, Fixture.trace(workers: 1, [])] {
            #expect(try TraceFile.read(bytes(trace)) == trace)
        }
        let random = WorkSpanTests.random(7, 100_000)
        #expect(try TraceFile.read(bytes(random)) == random)
    }

    @Test("Records have no padding, and the documented sizes")
    func sizes() {
        #expect(MemoryLayout<TracedOperation>.size == 72)
        #expect(MemoryLayout<TracedOperation>.stride == 72)
        #expect(MemoryLayout<TracedThreadEvent>.size == 16)
        #expect(MemoryLayout<TracedThreadEvent>.stride == 16)
        #expect(MemoryLayout<TracedSpan>.size == 24)
        #expect(MemoryLayout<TracedSpan>.stride == 24)
        #expect(MemoryLayout<TracedWait>.size == 24)
        #expect(MemoryLayout<TracedWait>.stride == 24)
        #expect(MemoryLayout<TracedDependency>.size == 8)
        #expect(MemoryLayout<StackProfile.WeighedStack>.stride == 32)
    }

    @Test("A file that is cut anywhere, or followed by other data, is rejected")
    func truncated() throws {
        let whole = try bytes(Fixture.everything)
        for length in 0..<whole.count { #expect(message(Array(whole[..<length])) != nil, "\(length) bytes") }
        let others = [
            whole + [0], Array(whole.dropLast()), [], Array("#!/bin/sh".utf8), Array("opbench trace 3\n{}\n".utf8),
        ].map(message)
        expectRefused(others, "followed, cut, of another kind or version")
    }

    private func expectRefused(_ messages: [String?], _ section: String) {
        #expect(messages.allSatisfy { $0 != nil })
        Golden("trace-refusals").expect(messages.map { $0 ?? "taken" }.joined(separator: "\n"), section)
    }

    @Test("Counts out of range, and fewer or more of them")
    func counts() throws {
        let whole = String(decoding: try bytes(Fixture.trace(workers: 1, [])), as: UTF8.self)
        let others = ["[0,0,0,0,-1]", "[0,0,0,0,9223372036854775807]", "[1,0,0,0,0]", "[0,0,0,0]", "[0,0,0,0,0,0]"]
        #expect(whole.contains("[0,0,0,0,0]"))
        expectRefused(others.map { message(Array(whole.replacing("[0,0,0,0,0]", with: $0).utf8)) }, "counts")
    }

    @Test("If any byte changes, the file is rejected, or everything can be computed and written from it")
    func hostile() throws {
        let whole = try bytes(Fixture.everything)
        var taken = 0
        for place in whole.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var copy = whole
                copy[place] ^= change
                guard let trace = try? TraceFile.read(copy) else { continue }
                taken += 1
                try ChromeWriter.write(trace, to: ByteCollector())
                _ = (try? TraceReport(trace))?.lines()
            }
        }
        // Times may change slightly, names in any way.
        #expect(taken > 100)
    }

    @Test("Inconsistent records are named")
    func inconsistent() {
        func fault(_ change: (inout SampleTrace) -> Void) -> String? {
            var trace = Fixture.everything
            change(&trace)
            do {
                try trace.check()
                return nil
            } catch {
                return error.message
            }
        }
        #expect(fault { _ in } == nil)
        let faults: [(inout SampleTrace) -> Void] = [
            { $0.operations[1].end = 0 - 1 }, { $0.operations[0].queue = 9 }, { $0.operations[0].worker = 9 },
            { $0.operations[3].ready = .absent }, { $0.operations[3].submit = .absent },
            { $0.operations[3].notified = 1 << 60 }, { $0.operations[2].offProcessor = 11 },
            { $0.operations[2].processorWait = 3 }, { $0.operations[2].processorWait = -1 }, { $0.waits![0].end = 18 },
            { $0.waits![1].thread = 9 }, { $0.waits![1].end = 1 << 60 }, { $0.operations[2].planned = 1 << 60 },
            { $0.threadEvents[2].other = 5 }, { $0.threadEvents[0].rawKind = 77 }, { $0.spans[0].operation = 99 },
            { $0.spans[1].end = 39 }, { $0.dependencies[0].successor = 0 }, { $0.threads[1].id = 11 },
            { $0.queues[0].limit = 0 }, { $0.workerCount = 0 },
        ]
        expectRefused(faults.map { fault($0) }, "records")
    }

    @Test("Times in the wrong order because of two clocks are repaired")
    func mended() throws {
        var trace = Fixture.everything
        trace.mendOrder()
        #expect(trace == Fixture.everything)
        trace.operations[0].ready = -3
        trace.operations[1].end = 18
        trace.operations[1].notified = 11
        trace.operations[2].start = 30
        trace.mendOrder()
        #expect((trace.operations[2].offProcessor, trace.operations[2].processorWait) == (1, 1))
        #expect(trace.operations[0].ready == 0)
        #expect(trace.operations[1].notified == 18)
        try trace.check()
        // Absent times stay absent.
        #expect(trace.operations[4].start == .absent)
        trace.operations[0].submit = .max - 1
        trace.operations[0].end = .min
        trace.mendOrder()
        #expect(trace.operations[0].end == .max - 1)
    }

    // MARK: Files

    @Test("A new file appears complete, or not at all")
    func newFile() throws {
        let folder = try TemporaryFolder()
        let written = try WrittenFolder(folder.path)
        do {
            let file = try NewFile("trace", in: written)
            try file.write([1, 2, 3])
            #expect(try written.names().count == 1)
        }
        #expect(try written.names() == [])
        let file = try NewFile("trace", in: written)
        try file.write([1, 2, 3])
        try file.write([4])
        try file.publish()
        #expect(try written.names() == ["trace"])
        let opened = open(folder.path + "/trace", O_RDONLY)
        defer { close(opened) }
        #expect(try FileBytes.readAll(opened) == [1, 2, 3, 4])
    }

    @Test("If a sink fails, every writer stops and reports it")
    func failingSink() {
        struct Full: Error {}
        final class FullDisk: ByteSink {
            var writes = 0
            func write(_ bytes: [UInt8]) throws {
                writes += 1
                throw Full()
            }
        }
        for write: (any ByteSink) throws -> Void in [
            { try TraceFile.write(Fixture.everything, to: $0) },
            { try ChromeWriter.write(Fixture.everything, to: $0) },
        ] {
            let disk = FullDisk()
            #expect(throws: Full.self) { try write(disk) }
            #expect(disk.writes == 1)
        }
    }
}

/// A folder that is removed with the object.
private final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/opbench-profile-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in (try? WrittenFolder(path).names()) ?? [] { unlink(path + "/" + name) }
        rmdir(path)
    }
}
