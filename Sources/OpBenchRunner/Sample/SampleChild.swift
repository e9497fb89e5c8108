import CLinux
import CLinuxMeasure
import Foundation
import Glibc
import OpBenchBackends
import OpBenchLaunch
import OpBenchModel
import Synchronization

/// The process of one sample: this program, executed again with a hidden first argument.
public enum SampleChild {
    /// Exit status of a process that does not understand its request.
    static let misunderstoodStatus: Int32 = 64

    /// If this process was started to take a sample, takes it, answers on standard output, and exits. Otherwise returns
    /// at once.
    ///
    /// Call it first in `main`, before anything is parsed or started, so that a sample starts early and undisturbed.
    public static func mainIfChild() {
        guard CommandLine.argc >= 2, let first = CommandLine.unsafeArgv[1] else { return }
        if strcmp(first, HiddenArgument.limited) == 0 {
            LimitedProgram.become(Array(CommandLine.arguments.dropFirst(2)))
        }
        if strcmp(first, HiddenArgument.gated) == 0 {
            GatedProgram.become(Array(CommandLine.arguments.dropFirst(2)))
        }
        guard CommandLine.argc == 2 else { return }
        if strcmp(first, HiddenArgument.describe) == 0 {
            answer(BuildDescription.own, to: STDOUT_FILENO)
        }
        guard strcmp(first, HiddenArgument.sample) == 0 else { return }
        let output = dup(STDOUT_FILENO)
        // From here on, the output of libraries goes to the diagnostics.
        dup2(STDERR_FILENO, STDOUT_FILENO)
        let order = Data((try? FileBytes.readAll(STDIN_FILENO)) ?? [])
        guard let request = try? JSONDecoder().decode(SampleRequest.self, from: order),
            clinux_die_with_parent(request.parent) == 0,
            let factory = BackendFactory.named(request.backend)
        else { _exit(misunderstoodStatus) }
        let trial = Trial(request, factory: factory)
        BrokenRound.setEnding { finding in
            // A profile of a broken round is useless.
            if request.profile != nil { refuse(finding) }
            var report = SampleReport()
            report.status = .invalid
            report.note(finding)
            answer(report, to: output)
        }
        if let order = request.profile { profile(trial, order, to: output) }
        if request.flavour == .calls { CallCounter.begin() }
        answer(trial.run(), to: output)
    }

    private static let isAnswered = Atomic<Bool>(false)

    private static func refuse(_ finding: String) -> Never {
        try? FileBytes.write("the sample is invalid: \(finding)\n", to: STDERR_FILENO)
        _exit(ProfileTrial.refusalStatus)
    }

    /// Takes a profile; failures to record it go to the diagnostics.
    private static func profile(_ trial: Trial, _ order: ProfileOrder, to output: Int32) -> Never {
        do {
            answer(try ProfileTrial(trial: trial, order: order).run(), to: output)
        } catch {
            try? FileBytes.write("\(error)\n", to: STDERR_FILENO)
            _exit(error is DiskError ? ProfileTrial.fullDiskStatus : ProfileTrial.refusalStatus)
        }
    }

    private static func answer(_ value: some Encodable, to descriptor: Int32) -> Never {
        end(writing: try? AnswerRecord.bytes(of: value), to: descriptor)
    }

    /// Ends the process with its answer, or with an error if there is none.
    ///
    /// The first thread answers. Other threads that would answer wait for the end of the process. Not inlined or
    /// specialized: with this code in the generic function, the optimizer of Swift 6.3.1 crashed.
    @inline(never)
    private static func end(writing record: [UInt8]?, to descriptor: Int32) -> Never {
        while isAnswered.exchange(true, ordering: .acquiringAndReleasing) { pause() }
        guard let record, (try? FileBytes.write(record, to: descriptor)) != nil else { _exit(74) }
        _exit(0)
    }
}
