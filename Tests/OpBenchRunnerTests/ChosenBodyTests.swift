import CLinuxMeasure
import Foundation
import OpBenchModel
import Synchronization
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite(.serialized, .onOwnThreads) struct ChosenBodyTests {
    /// A body on its own, as an item of a sample finds it.
    private func body(_ text: String) throws -> ChosenBody {
        let plan = try Fixture.plan("independent", #"{"items": 8, "work_ns": 0, "body": \#(text)}"#)
        return try ChosenBody.make(try #require(plan.body).choice, try #require(plan.body), Fixture.kernel)
    }

    static let bodies = [
        #""memory""#, #"{"memory": {"footprint_bytes": 4096, "stride_bytes": 4096}}"#, #""allocate""#,
        #"{"sleep": {"sleep_ns": 1000}}"#, #"{"lock": {"locks": 2, "hold_ns": 100}}"#, #""file_read""#,
        #"{"file_write": {"bytes": 20000}}"#, #"{"pipe_read": {"bytes": 100000}}"#, #""pipe_write""#,
        #"{"mix": [{"weight": 1, "body": "cpu"}, {"weight": 1, "body": "pipe_read"}, {"weight": 1, "body": "lock"}]}"#,
    ]

    @Test(arguments: bodies)
    func `a sample of every kind has every operation do it`(_ text: String) async throws {
        let parameters = #"{"items": 20, "items_per_operation": 3, "body": \#(text)}"#
        for factory in [EngineBackend.factory, SerialBackend.factory, DispatchBackend.factories[0]] {
            for flavour in SampleFlavour.allCases {
                let report = try await Fixture.report(factory, flavour, "independent", parameters)
                #expect(report.status == .ok, "\(factory.id.rawValue) \(flavour): \(report.notes)")
            }
        }
    }

    @Test func `the default is the kernel's work, without a chosen body`() throws {
        let plan = try Fixture.plan("independent", #"{"items": 8, "work_ns": 50}"#)
        #expect(plan.body == nil && plan.workNanoseconds == 50)
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
        defer { body.deallocate() }
        #expect(body.state.pointee.chosen == nil && !body.state.pointee.isSpecial)
        #expect(body.state.pointee.iterationsPerItem == 25)
    }

    @Test func `a chosen body replaces the kernel's work`() throws {
        let plan = try Fixture.plan("independent", #"{"items": 8, "work_ns": 50, "body": "allocate"}"#)
        #expect(plan.workNanoseconds == 0 && plan.body?.workNanoseconds == 50)
        #expect(plan.plannedNanoseconds(of: 0) == nil && plan.idealMakespan(processors: 2) == nil)
    }

    @Test func `memory is read at every stride`() throws {
        for (bytes, stride, reads) in [(4096, 64, 64), (4096, 4096, 1), (4097, 4096, 2), (1, 1, 1)] {
            let block = try #require(clinux_map(bytes))
            defer { clinux_unmap(block, bytes) }
            #expect(clinux_stride(block, bytes, stride) == reads)
        }
    }

    @Test func `blocks are allocated`() throws {
        #expect(clinux_allocate(30, 500) == 30 && clinux_allocate(1, 1) == 1)
        // More than the address space has.
        #expect(clinux_allocate(3, 1 << 60) == 0)
    }

    @Test func `locks exclude items from one another`() throws {
        let body = try #require(try body(#"{"lock": {"locks": 3, "hold_ns": 0}}"#) as? LockingBody)
        defer { body.release() }
        let threads = (0..<4).map { thread in
            OwnThread { for item in 0..<3000 { body.run(thread * 3000 + item) } }
        }
        for thread in threads { thread.join() }
        #expect(body.entries == [4000, 4000, 4000])
    }

    @Test(arguments: [1, 16_384, 100_000]) func `files and pipes pass as many bytes as asked for`(_ bytes: Int) throws {
        let file = clinux_unnamed_file("/tmp")
        defer { close(file) }
        #expect(clinux_move(file, bytes, false, true) == ENODATA)
        #expect(clinux_move(file, bytes, true, true) == 0 && lseek(file, 0, SEEK_END) == bytes)
        #expect(clinux_move(file, bytes, true, true) == 0 && lseek(file, 0, SEEK_END) == bytes)
        #expect(clinux_move(file, bytes, false, true) == 0 && clinux_move(file, bytes + 1, false, true) == ENODATA)
        var ends: [Int32] = [0, 0]
        #expect(clinux_pipe(&ends) == 0)
        let (output, input) = (ends[0], ends[1])
        let writer = OwnThread {
            _ = clinux_move(input, bytes, true, false)
            close(input)
        }
        #expect(clinux_move(output, bytes, false, false) == 0 && clinux_move(output, 1, false, false) == ENODATA)
        writer.join()
        close(output)
    }

    @Test(arguments: ["file_read", "file_write", "pipe_read", "pipe_write"])
    func `nothing stays open or on disk`(_ name: String) throws {
        func bodyFiles() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }.filter { $0.contains("opbench-body-") }
        }
        let made = try body(#"{"\#(name)": {"bytes": 70000}}"#)
        for item in 0..<3 { made.run(item) }
        #expect(try bodyFiles().count == (name.hasPrefix("file") ? 1 : 0))
        #expect(try bodyFiles().allSatisfy { $0.hasSuffix("(deleted)") })
        made.release()
        #expect(try bodyFiles().isEmpty)
    }

    @Test func `a mix draws by weight, the same for an item whenever it is asked`() throws {
        let parts = #"{"weight": 3, "body": "cpu"}, {"weight": 1, "body": {"lock": {"hold_ns": 0}}}"#
        let mixed = try #require(try body(#"{"mix": [\#(parts)]}"#) as? MixedBody)
        defer { mixed.release() }
        let drawn = (0..<10_000).map(mixed.part)
        #expect(drawn == (0..<10_000).reversed().map(mixed.part).reversed())
        #expect((7300...7700).contains(drawn.count { $0 == 0 }) && drawn.allSatisfy { $0 < 2 })
    }

    @Test func `a plan's items have each a number of their own`() throws {
        let parameters = #"{"items": 20, "items_per_operation": 3, "body": "allocate"}"#
        for factory in [EngineBackend.factory, SerialBackend.factory] {
            let plan = try Fixture.plan("independent", parameters)
            let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
            let recorder = Recorder(items: 20)
            body.state.pointee.chosen = recorder
            let producers = Producers(plan)
            _ = Round.run(plan, by: factory, body, producers: producers)
            producers.dismiss()
            body.deallocate()
            #expect(recorder.counts == Array(repeating: 1, count: 20))
        }
    }

    @Test(arguments: [BodyChoice("memory", fields: ["footprint_bytes": 1 << 60]), BodyChoice("absent")])
    func `a body that lacks what it needs has a reason`(_ choice: BodyChoice) throws {
        let plan = try #require(Fixture.plan("independent", #"{"items": 8, "body": "sleep"}"#).body)
        let error = #expect(throws: BodyError.self) { _ = try ChosenBody.make(choice, plan, Fixture.kernel) }
        #expect(error?.reason.isEmpty == false)
    }
}

/// Counts how often each item's work was done.
private final class Recorder: ChosenBody, @unchecked Sendable {
    private let times: [Count]

    private final class Count: Sendable { let value = Atomic<Int>(0) }

    init(items: Int) { times = (0..<items).map { _ in Count() } }

    override func run(_ item: Int) { times[item].value.add(1, ordering: .relaxed) }

    var counts: [Int] { times.map { $0.value.load(ordering: .relaxed) } }
}
