import CRecording
import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("Recordings are read")
struct RecordingTests {
    private typealias Event = crecording_event

    private func path(_ bytes: [UInt8]) throws -> String {
        let path = try TemporaryFolder.make() + "/recording"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func read(_ bytes: [UInt8], window: RecordingWindow = .all) throws -> Recording {
        try Recording.read(path(bytes), window: window)
    }

    /// Two queues, a dependency, a cancelled operation, a closure, a barrier and a suspension. What the worker did comes
    /// before what it did that to.
    static func everything() -> MadeRecording {
        var made = MadeRecording()
        made.append(crecording_named_queue, 1, "images")
        made.append(crecording_named_queue, 2, "uploads")
        made.append(crecording_named_class, 900, "Resize")
        made.append(crecording_named_thread, 43, "engine normal 1")
        made.append(
            events: [
                Event(crecording_lease_taken, 43, at: 105, detail: 1),
                Event(crecording_started, 10, at: 110, detail: crecording_unknown),
                Event(
                    crecording_finished, 10, at: 210, value: 90, detail: crecording_unknown,
                    flags: Int(crecording_is_unblocked)),
                Event(crecording_ready, 11, at: 220),
                Event(crecording_notified, 10, at: 225),
                Event(crecording_started, 11, at: 230, detail: crecording_unknown),
                Event(crecording_finished, 11, at: 330, value: 40, detail: crecording_unknown),
                Event(crecording_notified, 11, at: 335),
                Event(crecording_notified, 5, at: 340),
                Event(crecording_lease_given_up, 43, at: 350, detail: 1),
                Event(crecording_park, 43, at: 360),
            ], thread: 43)
        made.append(
            events: [
                Event(crecording_limit, at: 1, value: 3, detail: 1),
                Event(crecording_limit, at: 1, value: -1, detail: 2),
                Event(crecording_suspended, at: 90, detail: 1),
                Event(crecording_enqueued, 10, at: 100, value: 900, detail: 1, priority: 8),
                Event(crecording_ready, 10, at: 100),
                Event(crecording_resumed, at: 104, detail: 1),
                Event(crecording_enqueued, 11, at: 120, value: 0, detail: 1, flags: Int(crecording_is_closure)),
                Event(crecording_dependency, 11, at: 120, value: 10),
                Event(crecording_enqueued, 12, at: 130, value: 900, detail: 2),
                Event(crecording_cancelled, 12, at: 140),
                Event(crecording_ready, 12, at: 140),
                Event(crecording_finished, 12, at: 150, value: -1, flags: Int(crecording_is_cancelled)),
                Event(crecording_enqueued, 13, at: 160, detail: 2, flags: Int(crecording_is_barrier)),
                Event(crecording_wake, 42, at: 161, value: 43),
                Event(crecording_dependency, 13, at: 162, value: 99),
            ], thread: 42, lost: 3)
        made.end(at: 400)
        return made
    }

    @Test("What happened is in the trace, by the order of submission")
    func whole() throws {
        let recording = try read(Self.everything().bytes)
        let trace = recording.trace
        #expect(recording.program == "server" && trace.title == "server" && recording.startDate == 1_700_000_000)
        #expect(trace.operations.map(\.submit) == [100, 120, 130, 160])
        #expect(trace.operations.map(\.start) == [110, 230, .absent, .absent])
        #expect(trace.operations.map(\.end) == [210, 330, 150, .absent])
        #expect(trace.operations.map(\.ready) == [100, 220, 140, .absent])
        #expect(trace.operations.map(\.priority) == [8, 0, 0, 0])
        #expect(trace.operations.map { trace.className(of: $0) } == ["Resize", "closure", "Resize", "closure"])
        #expect(
            trace.operations.map { trace.queues[Int($0.queue)].name } == ["images", "images", "uploads", "uploads"])
        #expect(trace.queues.map(\.limit) == [3, nil])
        #expect(trace.dependencies == [TracedDependency(0, before: 1)])
        #expect(trace.operations.map(\.offProcessor) == [10, 60, 0, 0])
        #expect(trace.operations.map(\.processorWait) == [10, .absent, 0, 0] && trace.waits == nil)
        #expect(recording.details.map(\.processorTime) == [90, 40, .absent, .absent])
        #expect(recording.details.map(\.isUnblocked) == [true, false, false, false])
        #expect(recording.details.map(\.isCancelled) == [false, false, true, false])
        #expect(recording.details.map(\.cancelTime) == [.absent, .absent, 140, .absent])
        #expect(recording.details.map(\.isClosure) == [false, true, false, false])
        #expect(recording.details.map(\.isBarrier) == [false, false, false, true])
        #expect(
            trace.spans == [
                TracedSpan(kind: .suspension, queue: 0, start: 90, end: 104),
                TracedSpan(kind: .barrier, queue: 1, start: 160, end: .absent, operation: 3),
            ])
        #expect(trace.threads.map(\.role) == [.worker, .submitter])
        #expect(trace.threads.map(\.name) == ["engine normal 1", "thread 42"])
        #expect(trace.threadEvents.map(\.kind) == [.leaseTaken, .leaseGivenUp, .park, .wake])
        #expect(trace.stop == 400 && recording.lostEvents == 3 && !recording.isCut && recording.missingParts == 0)
        // Number 5, but not 99, to which nothing happened.
        #expect(recording.partialOperations == 1)
    }

    @Test("A window keeps what was submitted in it, and to its queue")
    func window() throws {
        let bytes = Self.everything().bytes
        #expect(try read(bytes, window: .init(from: 120, to: 160)).trace.operations.map(\.submit) == [120, 130])
        let uploads = try read(bytes, window: .init(queue: "uploads")).trace
        #expect(uploads.operations.map(\.submit) == [130, 160])
        #expect(uploads.dependencies.isEmpty)
        #expect(throws: InputError.self) { try read(bytes, window: .init(queue: "nonesuch")) }
    }

    @Test(
        "A recording that is cut anywhere is read up to there, or refused if nothing is left", arguments: [false, true])
    func cut(isFilledWithZeros: Bool) throws {
        let made = Self.everything()
        let whole = made.bytes
        var seen: Set<Int> = []
        for length in stride(from: 0, to: whole.count, by: 8) {
            let zeros = [UInt8](repeating: 0, count: isFilledWithZeros ? whole.count - length : 0)
            do {
                let recording = try read(whole[..<length] + zeros)
                #expect(recording.isCut)
                #expect(recording.unreadBytes == length + zeros.count - (made.places.last { $0 <= length } ?? 0))
                seen.insert(recording.trace.operations.count)
            } catch let error as InputError {
                #expect(length < made.places[1] && error.path.hasPrefix("byte "))
            }
        }
        #expect(seen == [0, 4])
    }

    @Test("Whole blocks are read up to the first one with a changed byte, whatever follows it")
    func damaged() throws {
        let made = Self.everything()
        for index in made.bytes.indices {
            var bytes = made.bytes
            bytes[index] ^= 0x41
            let place = made.places.last { $0 <= index } ?? 0
            if place == 0 {
                let error = #expect(throws: InputError.self) { try read(bytes) }
                #expect(error.map { $0.path.hasPrefix("byte ") && !$0.remedy.isEmpty } ?? false, "\(index)")
            } else {
                let recording = try read(bytes)
                #expect(recording.isCut && recording.unreadBytes == bytes.count - place, "\(index)")
            }
        }
    }

    @Test("What a power failure leaves: zeros after the end, in the middle, in a block, everywhere")
    func zeros() throws {
        let made = Self.everything()
        func read(zeros range: Range<Int>) throws -> Recording {
            var bytes = made.bytes + [UInt8](repeating: 0, count: 4096)
            for index in range { bytes[index] = 0 }
            return try self.read(bytes)
        }
        let ended = try read(zeros: 0..<0)
        #expect(!ended.isCut && ended.unreadBytes == 4096 && ended.trace.operations.count == 4)
        // The worker's block, which comes before the submitter's.
        let place = made.places[5]
        for range in [place..<made.places[6], place..<place + 80, place + 100..<made.places[6]] {
            let recording = try read(zeros: range)
            #expect(recording.isCut && recording.unreadBytes == made.bytes.count + 4096 - place)
            #expect(recording.trace.operations.isEmpty && recording.partialOperations == 0)
        }
        for range in [0..<made.bytes.count, 80..<made.bytes.count] {
            let error = #expect(throws: InputError.self) { try read(zeros: range) }
            #expect(error?.path.hasPrefix("byte ") ?? false)
        }
    }

    @Test("Missing, repeated and foreign blocks are noticed")
    func order() throws {
        var other = MadeRecording(recording: 8, number: 0)
        other.end(at: 1)
        let start = MadeRecording().bytes
        var twice = MadeRecording()
        twice.end(at: 1)
        let end = Array(twice.bytes[start.count...])
        twice.end(at: 1)
        let foreign = start + Array(other.bytes[start.count...])
        let inputs: [[UInt8]] = [foreign, start + start, twice.bytes, end, [], [1, 2, 3]]
        for bytes in inputs {
            #expect(throws: InputError.self) { try read(bytes) }
        }
    }

    @Test("Events that no program sends are refused, with their place")
    func values() throws {
        let first = MadeRecording().bytes.count
        for event in [
            Event(crecording_kind(200), 1, at: 1), Event(crecording_ready, 1, at: .max),
            Event(crecording_ready, 1, at: .min), Event(crecording_dependency, 1, at: 1, value: 1),
        ] {
            var made = MadeRecording()
            made.append(events: [Event(crecording_ready, 1, at: 1), event])
            let error = #expect(throws: InputError.self) { try read(made.bytes) }
            #expect(error?.path == "byte \(first + MemoryLayout<crecording_header>.size + 32)")
        }
        let payloads: [[UInt8]] = [
            [UInt8](repeating: 0, count: 8), [1, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        for payload in payloads {
            for kind in [crecording_block_events, crecording_block_names, crecording_block_start, crecording_block(9)] {
                var made = MadeRecording()
                made.append(kind, payload)
                #expect(throws: InputError.self) { try read(made.bytes) }
            }
        }
    }

    @Test("Clocks that run backwards are put in order")
    func clocks() throws {
        var made = MadeRecording()
        made.append(events: [
            Event(crecording_enqueued, 1, at: 100), Event(crecording_started, 1, at: 50),
            Event(crecording_finished, 1, at: 20, value: 1 << 60), Event(crecording_notified, 1, at: 300),
            Event(crecording_enqueued, 2, at: 40, priority: -8),
        ])
        let recording = try read(made.bytes)
        #expect(recording.trace.operations.map(\.submit) == [40, 100])
        #expect(recording.trace.operations[1].start == 100 && recording.trace.operations[1].end == 100)
        #expect(recording.trace.stop == 300)
    }

    @Test("The part before belongs to it, or is left out and counted")
    func parts() throws {
        var first = MadeRecording()
        first.append(events: [Event(crecording_enqueued, 1, at: 10), Event(crecording_started, 1, at: 20)])
        var second = MadeRecording(part: 1, number: first.nextNumber)
        second.append(events: [Event(crecording_finished, 1, at: 30), Event(crecording_enqueued, 2, at: 40)])
        second.end(at: 50)
        let path = try path(second.bytes)
        func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path + ".1")) }

        let alone = try Recording.read(path)
        #expect(alone.missingParts == 1 && alone.partialOperations == 1 && alone.trace.operations.count == 1)
        try write(first.bytes)
        let both = try Recording.read(path)
        #expect(both.missingParts == 0 && both.partialOperations == 0)
        #expect(both.trace.operations.map(\.end) == [30, .absent])
        try write(MadeRecording(recording: 9).bytes)
        #expect(try Recording.read(path).missingParts == 1)
        try write(Array(first.bytes.dropLast(8)))
        let withoutEnd = try Recording.read(path)
        #expect(withoutEnd.missingParts == 1 && withoutEnd.trace.operations.map(\.submit) == [40])
        #expect(withoutEnd.unreadBytes == 0)
        try write(first.bytes)
        try Data([UInt8](repeating: 0, count: 4096)).write(to: URL(filePath: path))
        let error = #expect(throws: InputError.self) { try Recording.read(path) }
        #expect(error.map { $0.file == path && $0.remedy.contains(path + ".1") } ?? false)
        #expect(try Recording.read(path + ".1").isCut)
    }

    @Test("A long recording takes memory for its operations alone, and says how far it is")
    func long() throws {
        let count = 20_000
        var made = MadeRecording()
        for first in stride(from: 0, to: count, by: 1000) {
            made.append(
                events: (first..<min(count, first + 1000)).flatMap { number in
                    let (id, time) = (UInt64(number + 1), Int64(number * 10))
                    return [
                        Event(crecording_enqueued, id, at: time, detail: 1), Event(crecording_ready, id, at: time),
                        Event(crecording_started, id, at: time + 1), Event(crecording_finished, id, at: time + 5),
                        Event(crecording_notified, id, at: time + 6),
                    ]
                })
        }
        made.end(at: Int64(count * 10))
        var shares: [Double] = []
        let recording = try Recording.read(path(made.bytes)) { shares.append(Double($0) / Double($1)) }
        #expect(recording.trace.operations.count == count && recording.trace.operations.allSatisfy { $0.elapsed == 4 })
        #expect(shares.count > 1 && shares == shares.sorted() && shares.last == 1)
    }
}
