import TestSupport
import Testing

@testable import OpBenchRunner

@Suite(.onOwnThreads) struct DoctorTests {
    private static let defects: [(String, Finding.Weight, @Sendable (inout HostReadings) -> Void)] = [
        ("processors", .bad, { $0.allowedProcessors = 1 }),
        ("cgroup quota", .bad, { $0.quotaProcessors = 1.5 }),
        ("cgroup quota", .note, { $0.quotaProcessors = 16 }),
        ("cgroup quota", .bad, { ($0.quotaProcessors, $0.throttledShare) = (16, 0.01) }),
        ("governor", .bad, { $0.governor = "powersave" }),
        ("governor", .note, { $0.governor = nil }),
        ("turbo", .bad, { $0.hasTurbo = true }),
        ("SMT", .note, { $0.hasThreadsPerCore = true }),
        ("hypervisor", .note, { $0.isVirtual = true }),
        ("hypervisor", .bad, { ($0.isVirtual, $0.stolenShare) = (true, 0.05) }),
        ("other processes", .bad, { $0.foreignShare = 0.6 }),
        ("other processes", .note, { $0.foreignShare = 0.1 }),
        ("load", .note, { $0.load = 9 }),
        ("clock source", .bad, { $0.clockSource = "hpet" }),
        ("clock", .bad, { $0.clockCost = 900 }),
        ("timer", .bad, { $0.sleepDelay = 3e6 }),
        ("memory", .bad, { $0.availableBytes = 100 << 20 }),
        ("address randomization", .note, { $0.addressRandomization = 0 }),
        ("allocator", .bad, { ($0.countsAllocations, $0.allocator) = (false, "system malloc") }),
        ("profile cpu", .note, { $0.means = ProfileMeans(.init(cpuClock: .missing)) }),
        ("profile cpu", .note, { $0.means = ProfileMeans(.init(mayUseKernel: false)) }),
        ("profile offcpu", .note, { $0.means = ProfileMeans(.init(tracepoints: .missing)) }),
        (
            "profile offcpu", .bad,
            {
                $0.means = ProfileMeans(
                    .init(tracepoints: .missing, switches: .missing, countsSchedules: false))
            }
        ),
        ("profile heap", .bad, { $0.means = ProfileMeans(.init(jemallocProfiles: nil)) }),
        ("instructions", .bad, { $0.instructions = Callgrind(program: "/nowhere/valgrind").means() }),
        ("thread priorities", .note, { $0.mayRaisePriority = false }),
        ("build", .bad, { $0.configuration = "debug" }),
    ]

    /// A machine as one would wish for.
    private func readings(_ change: @Sendable (inout HostReadings) -> Void = { _ in }) -> HostReadings {
        var readings = HostReadings(
            onlineProcessors: 8, allowedProcessors: 8, quotaProcessors: nil, governor: "performance", hasTurbo: false,
            hasThreadsPerCore: false, isVirtual: false, clockSource: "tsc", clockCost: 20, clockStep: 1,
            sleepDelay: 60_000, stolenShare: 0, foreignShare: 0.01, throttledShare: 0, load: 0.2,
            addressRandomization: 2, mayRaisePriority: true, availableBytes: 8 << 30,
            usedSwapBytes: 0, allocator: "jemalloc 5.3", countsAllocations: true, configuration: "release",
            means: ProfileMeans(.init()), instructions: .init(.callgrind))
        change(&readings)
        return readings
    }

    @Test func `on a good machine all is good, and nothing is advised`() {
        for finding in Doctor.findings(from: readings()) {
            #expect(finding.weight == .good && finding.remedy.isEmpty, "\(finding)")
        }
    }

    @Test(arguments: defects)
    func `each defect is found, and no other`(
        subject: String, weight: Finding.Weight, change: @Sendable (inout HostReadings) -> Void
    ) {
        let changed = Doctor.findings(from: readings(change)).filter { $0.weight != .good }
        #expect(changed.map(\.subject) == [subject])
        #expect(changed.map(\.weight) == [weight])
        #expect(weight == .note || changed.allSatisfy { !$0.remedy.isEmpty })
    }

    @Test func `this machine can be examined`() {
        let readings = HostReadings.take(watchSeconds: 0.05)
        #expect(readings.onlineProcessors >= 1 && readings.allowedProcessors >= 1)
        #expect(readings.clockCost > 0 && readings.clockStep > 0)
        #expect((readings.foreignShare ?? 0) >= 0)
        #expect(Set(Doctor.findings(from: readings).map(\.subject)).count == 21)
    }

    @Test func `memory is read in bytes`() {
        let text = "MemTotal:  100 kB\nMemAvailable:   64 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n"
        #expect(HostReadings.bytes("MemAvailable", in: text) == 65536)
        #expect(HostReadings.usedSwap(in: text) == 6144)
        #expect(HostReadings.bytes("MemAvailable", in: "") == nil)
    }
}
