import CLinux
import CLinuxMeasure
import Glibc
import OpBenchModel

/// Limits this process, which then becomes the program that takes a sample, of this build or another.
///
/// libdispatch counts its processors before `main` (sched_getaffinity(2) in a constructor), and so may any other
/// library. So the limits must be set when the sample's program starts. This way, builds without their own limits
/// obey them too, for `opbench ab`.
enum LimitedProgram {
    /// Exit status of a process that could not limit itself or execute the program; the reason is on standard error.
    static let status: Int32 = 71

    /// The arguments to put before the program and its arguments; empty without limits.
    static func launcher(for limits: SampleLimits) -> [String] {
        guard let processors = limits.processors else { return [] }
        return [ChildProcess.ownExecutable, HiddenArgument.limited, processors.description]
    }

    /// Becomes the program.
    ///
    /// - Parameter arguments: those of `launcher` after the hidden one, then the program and its arguments.
    static func become(_ arguments: [String]) -> Never {
        guard arguments.count >= 2 else { fail("nothing to execute", EINVAL) }
        let numbers = ProcessorSet(arguments[0])?.numbers.map { Int32($0) } ?? []
        let failure = clinux_stay_on_processors(numbers, Int32(numbers.count))
        if failure != 0 { fail("cannot run on processors \(arguments[0])", failure) }
        // One name for all builds: see `ChildProcess`.
        let words = (["opbench"] + arguments.dropFirst(2)).map { strdup($0) } + [nil]
        execvp(arguments[1], words)
        fail("cannot execute \(arguments[1])", errno)
    }

    private static func fail(_ what: String, _ code: Int32) -> Never {
        try? FileBytes.write("\(what): \(String(cString: strerror(code)))\n", to: STDERR_FILENO)
        _exit(status)
    }
}
