import Foundation
import TestSupport
import Testing

@testable import OperationEngine

@Suite("N15: how many workers the engine keeps running", .blocking)
struct WorkerCountTests {
    /// Whether control groups with a CPU quota can be made here; tried once.
    private static let mayLimit = (try? ScenarioRun("quota-change").isRefused) == false

    @Test(
        "the quota is the least of the process's control groups, in either version", .contract("N15"),
        arguments: [
            ([:], nil), (["proc/self/cgroup": "0::/\n"], nil),
            (["proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cgroup.controllers": "cpu io\n"], .unlimited),
            (["proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"], .processors(1.5)),
            (
                [
                    "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                    "sys/fs/cgroup/a/cpu.max": "200000 100000\n",
                ], .processors(2)
            ),
            (
                [
                    "proc/self/cgroup": "7:cpu,cpuacct:/c\n1:name=systemd:/c\n",
                    "sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us": "50000\n",
                    "sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us": "100000\n",
                    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
                    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
                ], .processors(0.5)
            ),
            (
                [
                    "proc/self/cgroup": "7:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                    "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
                ], .unlimited
            ),
            // The group itself is outside of what the process sees.
            (["proc/self/cgroup": "0::/hidden\n", "sys/fs/cgroup/cpu.max": "100000 100000\n"], .processors(1)),
        ] as [([String: String], CPUQuota?)])
    func quotas(files: [String: String], quota: CPUQuota?) throws {
        #expect(CPUQuota.read(root: try TemporaryFolder.make(files: files)) == quota)
    }

    @Test(
        "a part of a processor counts as a whole one, and there is always one", .contract("N15"),
        arguments: [
            (.processors(2), 2), (.processors(1.01), 2), (.processors(0.1), 1), (.processors(0), 1),
            (.processors(1e300), Int(Int32.max)), (.unlimited, .max),
        ] as [(CPUQuota, Int)])
    func rounding(quota: CPUQuota, count: Int) {
        #expect(quota.roundedUp == count)
    }

    @Test(
        "the variable's value is a number from 1 to 512", .contract("N15"),
        arguments: [
            ("1", 1), ("512", 512), ("007", 7), ("0", nil), ("513", nil), ("-1", nil), ("+1", nil), (" 1", nil),
            ("1e2", nil), ("two", nil), ("\u{661}", nil), ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func values(text: String, number: Int?) {
        #expect(Processors.number(of: text) == number)
    }

    @Test("the variable decides, above the processors", .contract("N15"), arguments: ["1", "2", "5"])
    func variable(count: String) throws {
        try passes("worker-count", count, environment: ["OPERATION_ENGINE_WORKERS": count])
    }

    @Test("any other value is ignored, and one line says so", .contract("N15"), arguments: ["0", "513", "many\n", ""])
    func ignored(value: String) throws {
        let run = try ScenarioRun(
            "worker-count", ["\(Processors.count)"], environment: ["OPERATION_ENGINE_WORKERS": value])
        #expect(run.hasPassed, "\(run)")
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == (value.isEmpty ? 0 : 1))
        #expect(lines.allSatisfy { $0.contains("OPERATION_ENGINE_WORKERS") && $0.contains(value.debugDescription) })
    }

    @Test(
        "a new quota takes effect while work waits", .contract("N15"), .slow,
        .enabled(if: mayLimit, "needs the right to make control groups with a CPU quota"))
    func change() throws {
        try passes("quota-change")
    }
}
