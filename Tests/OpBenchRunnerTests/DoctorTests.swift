import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchRunner

@Suite(.onOwnThreads) struct DoctorTests {
    private static let defects: [(String, Finding.Weight, @Sendable (inout ExaminedHost) -> Void)] = [
        ("processors", .bad, { $0.layout.allowed = ProcessorSet([0]) }),
        ("cgroup quota", .bad, { $0.quotaProcessors = 1.5 }),
        ("cgroup quota", .note, { $0.quotaProcessors = 16 }),
        ("cgroup quota", .bad, { ($0.quotaProcessors, $0.throttledShare) = (16, 0.01) }),
        ("governor", .bad, { $0.host.surroundings[.governor] = "powersave" }),
        ("governor", .note, { $0.host.surroundings[.governor] = nil }),
        ("turbo", .bad, { $0.host.surroundings[.turbo] = "on" }),
        ("hypervisor", .note, { $0.isVirtual = true }),
        ("hypervisor", .bad, { ($0.isVirtual, $0.stolenShare) = (true, 0.05) }),
        ("other processes", .bad, { $0.foreignShare = 0.6 }),
        ("other processes", .note, { $0.foreignShare = 0.1 }),
        ("clock source", .bad, { $0.clockSource = "hpet" }),
        ("clock", .bad, { $0.clock.cost = 900 }),
        ("timer", .bad, { $0.clock.sleepDelay = 3e6 }),
        ("memory", .bad, { $0.availableBytes = 100 << 20 }),
        ("address randomization", .note, { $0.host.surroundings[.addressRandomization] = "off" }),
        ("allocator", .bad, { ($0.heapLack, $0.host.allocator) = (.notLinked, "system malloc") }),
        ("allocator", .bad, { ($0.heapLack, $0.host.allocator) = (.displaced(by: "libother.so"), "libother.so") }),
        ("environment", .note, { $0.host.environment = ["LD_PRELOAD": "x.so"] }),
        ("profile cpu", .note, { $0.means = ProfileMeans(.init(cpuClock: .missing)) }),
        ("profile cpu", .note, { $0.means = ProfileMeans(.init(mayUseKernel: false)) }),
        ("profile offcpu", .note, { $0.means = ProfileMeans(.init(tracepoints: .missing)) }),
        (
            "profile offcpu", .note,
            {
                $0.means = ProfileMeans(
                    .init(tracepoints: .missing, switches: .missing, countsSchedules: false))
            }
        ),
        ("profile heap", .note, { $0.means = ProfileMeans(.init(heapLack: .notLinked)) }),
        ("instructions", .note, { $0.instructions = Callgrind(program: "/nowhere/valgrind").means() }),
        ("counters", .note, { $0.counters = counters(without: Set(HardwareEvent.allCases)) }),
        ("counters", .note, { $0.counters = counters(without: [.cacheMisses]) }),
        ("thread priorities", .note, { $0.mayRaisePriority = false }),
        ("build", .bad, { $0.host.configuration = "debug" }),
    ]

    private static func counters(without events: Set<HardwareEvent>) -> ProfileMeans.Answer {
        HardwareCounters.means(by: ScriptedCounters(failures: events))
    }

    /// An ideal machine.
    private func readings(_ change: @Sendable (inout ExaminedHost) -> Void = { _ in }) -> ExaminedHost {
        let around: [SurroundingFact: String?] = [
            .governor: "performance", .turbo: "off", .addressRandomization: "on",
        ]
        let host = Host(
            cpu: "some CPU", cores: 8, memoryBytes: 16 << 30, hostClass: "some CPU x8", allocator: "jemalloc 5.3",
            configuration: "release", environment: [:], surroundings: Surroundings(around))
        var readings = ExaminedHost(
            host: host, layout: Self.plain(processors: 8), quotaProcessors: nil, isVirtual: false, clockSource: "tsc",
            clock: .init(cost: 20, step: 1, sleepDelay: 60_000), stolenShare: 0, foreignShare: 0.01, throttledShare: 0,
            mayRaisePriority: true, availableBytes: 8 << 30, usedSwapBytes: 0,
            means: ProfileMeans(.init()), instructions: .init(.callgrind), counters: .init(.counters))
        change(&readings)
        return readings
    }

    /// One thread per core, one node, all allowed.
    private static func plain(processors: Int) -> ProcessorLayout {
        let all = ProcessorSet(0..<processors)
        return ProcessorLayout(
            online: all, allowed: all, cores: all.numbers.map { ProcessorSet([$0]) },
            nodes: [.init(number: 0, processors: all)])
    }

    @Test func `on a good machine, all findings are good and there is no advice`() {
        for finding in Doctor.findings(on: readings()) {
            #expect(finding.weight == .good && finding.remedy.isEmpty, "\(finding)")
        }
    }

    @Test(arguments: defects)
    func `each defect is found, and no other`(
        subject: String, weight: Finding.Weight, change: @Sendable (inout ExaminedHost) -> Void
    ) {
        // A quota is also a reason to choose processors.
        let changed = Doctor.findings(on: readings(change)).filter {
            $0.weight != .good && ($0.subject != "--cpus" || subject != "cgroup quota")
        }
        #expect(changed.map(\.subject) == [subject])
        #expect(changed.map(\.weight) == [weight])
        #expect(weight == .note || changed.allSatisfy { !$0.remedy.isEmpty })
    }

    /// Findings about processors on made-up machines, with the recommended choices.
    @Test func `it recommends processors for measuring, with reasons`() throws {
        func found(_ machine: MadeUpMachine, quota: Double? = nil) throws -> [String: Finding] {
            let layout = try machine.read()
            let findings = Doctor.findings(
                on: readings { ($0.layout, $0.quotaProcessors) = (layout, quota) })
            return Dictionary(findings.map { ($0.subject, $0) }) { first, _ in first }
        }
        let two = try found(.twoCoresSMT)
        #expect(two["SMT"]?.weight == .note && two["NUMA"]?.weight == .good)
        let large = try found(.twoNodes)
        #expect(try found(.twoNodes, quota: 6.5)["--cpus"]?.found.hasPrefix("--cpus 32-37:") == true)
        let single = try found(.oneCore)
        #expect(single["--cpus"]?.weight == .good && single["processors"]?.weight == .bad)
        let isolated = try found(.isolated)
        let subjects = ["processors", "SMT", "NUMA", "isolated processors", "--cpus"]
        let lines = [two, large, single, isolated].flatMap { findings in
            subjects.compactMap { findings[$0] }.map { finding in
                "\(finding.subject): \(finding.found)" + (finding.remedy.isEmpty ? "" : "; \(finding.remedy)")
            }
        }
        Golden("doctor").expect(lines.joined(separator: "\n"), "processors: SMT, two nodes, one core, isolated ones")
    }

    @Test func `this machine can be examined`() {
        let readings = ExaminedHost.read(watchSeconds: 0.05)
        #expect(readings.layout.online.count >= 1 && readings.layout.allowed.count >= 1)
        #expect(readings.clock.cost > 0 && readings.clock.step > 0)
        #expect((readings.foreignShare ?? 0) >= 0)
        #expect(Set(Doctor.findings(on: readings).map(\.subject)).count == 25)
    }

    @Test func `memory is read in bytes`() {
        let text = "MemTotal:  100 kB\nMemAvailable:   64 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n"
        #expect(ExaminedHost.bytes("MemAvailable", in: text) == 65536)
        #expect(ExaminedHost.usedSwap(in: text) == 6144)
        #expect(ExaminedHost.bytes("MemAvailable", in: "") == nil)
    }
}
