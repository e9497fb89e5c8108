import Foundation
import Glibc
import OpBenchModel

/// valgrind's callgrind, which runs a sample's program on a simulated processor and counts instructions.
///
/// It recognizes marks by the names of two functions (`--zero-before`, `--dump-before`) and writes one file per round.
/// Both options act on all threads. Switching collection on and off (`--toggle-collect`, `CALLGRIND_TOGGLE_COLLECT`)
/// would act only on the calling thread, so workers would not be counted.
///
/// Threads take turns on that processor. Two runs of the same program differ in whatever depends on these turns: how
/// often threads spin, park and wake each other. These effects only add instructions, so the round with the fewest
/// repeats best.
struct Callgrind: Sendable {
    /// The path of valgrind; tests use another program.
    var program = "valgrind"

    /// Blocking operations may each have a thread.
    private static let mostThreads = 4000

    /// - Parameter file: the path without the number of a mark: the first mark writes `file.1`, and so on.
    private func options(writingTo file: String) -> [String] {
        [
            "--tool=callgrind", "-q", "--command-line-only=yes", "--vgdb=no", "--demangle=no", "--fair-sched=try",
            "--max-threads=\(Self.mostThreads)",
            "--zero-before=clinux_counting_begins", "--dump-before=clinux_counting_ends",
            // callgrind expands percent signs.
            "--callgrind-out-file=\(file.replacingOccurrences(of: "%", with: "%%"))",
        ]
    }

    /// The command that runs a program under callgrind, without the program.
    func words(writingTo file: String) -> [String] { [program] + options(writingTo: file) }

    // MARK: Whether it works

    /// Runs a program that does nothing; takes about a second.
    func means() -> ProfileMeans.Answer {
        let arguments = ["valgrind"] + options(writingTo: "/dev/null") + ["true"]
        return switch ToolTrial.run(program, arguments, ["LC_ALL": "C"]) {
        case .succeeded: .init(.callgrind)
        case .notStarted(ENOENT):
            .init(nil, lack: "valgrind is not installed", remedy: "sudo apt-get install valgrind")
        case .notStarted(let code):
            .init(nil, lack: "valgrind cannot be started: \(String(cString: strerror(code)))", remedy: Self.remedy)
        case .endless: .init(nil, lack: "valgrind does not end", remedy: Self.remedy)
        case .failed(let ending, let text):
            .init(nil, lack: "valgrind \(ending)\(Self.lastLine(of: text))", remedy: Self.remedy)
        }
    }

    private static let remedy = "make `valgrind --tool=callgrind true` work, or install another version"

    private static func lastLine(of text: String) -> String {
        let line = text.split(separator: "\n").last { $0.contains { $0.isLetter } } ?? ""
        return line.isEmpty ? "" : ": \(line.prefix(200))"
    }
}

extension ProfileMeans {
    /// Determines whether instructions can be counted here. Starts valgrind; takes about a second.
    public static func ofInstructions() -> Answer { Callgrind().means() }
}
