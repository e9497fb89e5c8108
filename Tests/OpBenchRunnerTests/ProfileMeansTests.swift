import CLinuxMeasure
import Glibc
import OpBenchBackends
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile
import TestSupport
import Testing

@testable import OpBenchRunner

@Suite("Means of profiles") struct ProfileMeansTests {
    private let refused = PerfFailure(reason: "refused", remedy: "allow it")

    @Test func `the best means are used if everything is permitted`() {
        let means = ProfileMeans(.init())
        #expect(ProfileKind.allCases.map { means[$0].means } == [.hooks, .perf, .perf, .jemalloc])
        #expect(ProfileKind.allCases.allSatisfy { means[$0].lack.isEmpty && means[$0].remedy.isEmpty })
    }

    @Test func `each missing permission has a substitute, a reason and a remedy`() {
        func answer(_ kind: ProfileKind, _ change: (inout ProfileMeans.Trials) -> Void) -> ProfileMeans.Answer {
            var trials = ProfileMeans.Trials()
            change(&trials)
            return ProfileMeans(trials)[kind]
        }
        let cases: [(ProfileMeans.Answer, ProfileMeans.Means?)] = [
            (answer(.cpu) { $0.cpuClock = refused }, .signals),
            (answer(.cpu) { $0.mayUseKernel = false }, .perf),
            (answer(.cpu) { $0.processors = refused }, .perf),
            (answer(.offcpu) { $0.tracepoints = refused }, .perfSwitches),
            (answer(.offcpu) { ($0.tracepoints, $0.switches) = (refused, refused) }, .schedule),
            (
                answer(.offcpu) { ($0.tracepoints, $0.switches, $0.countsSchedules) = (refused, refused, false) },
                nil
            ),
            (answer(.heap) { $0.heapLack = .noProfiler }, nil),
            (answer(.heap) { $0.heapLack = .notLinked }, nil),
        ]
        for (answer, means) in cases {
            #expect(answer.means == means && !answer.lack.isEmpty && !answer.remedy.isEmpty, "\(answer)")
            #expect(answer.words.contains(answer.lack))
        }
    }

    @Test func `the cost of a profile leaves out what is unknown`() {
        func words(_ recorderTime: Int64?, events: Int) -> String? {
            var section = ProfileSection(.cpu, means: "perf")
            section.events = events
            var program = ProfiledProgram(
                words: ["a"], duration: 1_000_000_000, wasStopped: false, ending: .exited(0), recorderTime: recorderTime
            )
            program.sections = [section]
            return program.costWords
        }
        #expect(words(nil, events: 0) == nil)
        let (recorders, samples) = (words(7_000_000, events: 0) ?? "", words(nil, events: 5) ?? "")
        #expect(recorders.contains(" ms ") && samples.contains(" 5 samples ") && !samples.contains(" ms "))
        #expect(words(7_000_000, events: 5)?.hasPrefix("\(recorders); ") == true)
    }

    @Test(
        arguments: [
            (0o755, 1, 1, false, nil), (0o4755, 1, 1, false, nil), (0o4755, 0, 1, false, .setuid),
            (0o2755, 1, 0, false, .setgid), (0o2745, 1, 0, false, nil), (0o6755, 0, 0, true, .setuid),
            (0o755, 1, 1, true, .capabilities),
        ] as [(mode_t, uid_t, gid_t, Bool, ProgramToProfile.FileRights?)])
    func `a file's rights for user and group 1 forbid a preloaded library`(
        mode: mode_t, owner: uid_t, group: gid_t, hasCapabilities: Bool, rights: ProgramToProfile.FileRights?
    ) {
        var file = stat()
        (file.st_mode, file.st_uid, file.st_gid) = (mode, owner, group)
        #expect(ProgramToProfile.FileRights.granted(by: file, hasCapabilities: hasCapabilities, to: 1, 1) == rights)
        // A capability gives root nothing.
        if mode == 0o755 {
            #expect(ProgramToProfile.FileRights.granted(by: file, hasCapabilities: hasCapabilities, to: 0, 0) == nil)
        }
    }

    @Test func `this machine can be tried`() {
        let means = ProfileMeans.probe()
        #expect(means[.trace].means == .hooks && means[.cpu].means != nil)
        for kind in ProfileKind.allCases where means[kind].means == nil { #expect(!means[kind].lack.isEmpty) }
    }

    @Test func `without perf, signals and proc remain`() {
        let trials = ProfileMeans.Trials.take(program: "/nowhere/perf")
        #expect(trials.cpuClock == .missing && trials.tracepoints == .missing && trials.switches == .missing)
        #expect(ProfileMeans(trials)[.cpu].means == .signals)
    }

    private static let said: [(String, Int?, String)] = [
        (
            "event syntax error: 'sched:sched_switch'\n  \\___ can't access trace events\n\nError:\tNo permissions to "
                + "read /sys/kernel/tracing/events/sched/sched_switch\n", 2, "mode=755 /sys/kernel/tracing"
        ),
        ("event syntax error: 'sched:sched_switch'\n \\___ unknown tracepoint\n", -1, "mount -t tracefs"),
        (
            "Error:\nAccess to performance monitoring and observability operations is limited.\n"
                + "perf_event_paranoid setting is 4:\n", 4, "sysctl kernel.perf_event_paranoid=1"
        ),
        (
            "Error:\nThe sys_perf_event_open() syscall returned with 1 (Operation not permitted) for event "
                + "(cpu-clock).\n", 1, "--cap-add PERFMON"
        ),
        (
            "Error:\nAccess to performance monitoring and observability operations is limited for event "
                + "(sched:sched_switch).\nperf_event_paranoid setting is 1:\n", 1, "perf_event_paranoid=-1"
        ),
        ("failed to write perf data, error: No space left on device\n", 2, "--output"),
        ("Permission error mapping pages.\nConsider increasing /proc/sys/kernel/perf_event_mlock_kb\n", 2, "mlock_kb="),
        ("WARNING: perf not found for kernel 6.1.0-13\n", 2, "linux-tools-$(uname -r)"),
        ("  Error: unknown option `control'\n", 2, "5.10"),
    ]

    @Test(arguments: said)
    func `errors of perf are reported with a remedy`(text: String, paranoia: Int?, remedy: String) {
        let failure = PerfFailure(text: text, ending: "ended with 255", paranoia: paranoia)
        #expect(failure.remedy.contains(remedy), "\(failure)")
    }

    @Test func `unknown errors of perf are passed on`() {
        let failure = PerfFailure(text: "one\nlast words\n\n", ending: "ended with 3", paranoia: nil)
        #expect(failure.description.contains("3: last words") && !failure.remedy.isEmpty)
        #expect(PerfFailure(text: "", ending: "was ended by SIGKILL", paranoia: 2).reason.contains("SIGKILL"))
    }

    @Test func `only the kernel's counts of a thread are read`() {
        let counts = OffCPU.ThreadTime(
            id: 1, name: "a", schedule: "153228 2755458 2\n",
            status: "Name:\ta\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t1\n")
        #expect(counts?.running == 153_228 && counts?.waiting == 2_755_458)
        #expect(counts?.voluntary == 3 && counts?.involuntary == 1)
        for text in ["", "x y z", "1", "-1 2 3", "99999999999999999999 1 1"] {
            #expect(OffCPU.ThreadTime(id: 1, name: "", schedule: text, status: "") == nil)
        }
    }

    @Test(.enabled(if: !OffCPU.ThreadTime.ofThisProcess().isEmpty, "the kernel does not count"))
    func `a recorder of schedules adds up the rounds`() async throws {
        let folder = try Fixture.folder()
        let schedules = try await Fixture.onOwnThread {
            Result {
                let recorder = ScheduleRecorder(folder: folder)
                try recorder.begin()
                for _ in 0..<3 {
                    recorder.roundBegins()
                    clinux_burn(100_000)
                    recorder.roundDrained()
                }
                try recorder.end()
                return try ScheduleRecorder.schedules(FileBytes.read("\(folder)/\(ScheduleRecorder.fileName)"))
            }
        }.get()
        #expect(schedules.duration > 0 && !schedules.threads.isEmpty)
        #expect(schedules.threads.allSatisfy { $0.running >= 0 && $0.waiting >= 0 && $0.blocked >= 0 })
        #expect(schedules.lines(operations: 3).last?.contains("perf") == true)
    }
}
