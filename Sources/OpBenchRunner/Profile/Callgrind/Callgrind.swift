import CLinuxMeasure
import Foundation
import Glibc
import OpBenchModel
import OpBenchProfile

/// valgrind's callgrind, which runs a sample's program on a simulated processor and counts instructions by stack.
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

    /// The number of stack frames that callgrind distinguishes. The deepest library calls below an engine function are
    /// malloc's slow paths; with 16, all but a thousandth of their instructions are attributed to their caller. Each
    /// more frame costs time.
    var callers = 16
    /// Blocking operations may each have a thread.
    private static let mostThreads = 4000

    /// - Parameter file: the path without the number of a mark: the first mark writes `file.1`, and so on.
    private func options(writingTo file: String) -> [String] {
        [
            "--tool=callgrind", "-q", "--command-line-only=yes", "--vgdb=no", "--demangle=no", "--fair-sched=try",
            "--max-threads=\(Self.mostThreads)", "--separate-callers=\(callers)",
            "--zero-before=clinux_counting_begins", "--dump-before=clinux_counting_ends",
            // callgrind expands percent signs.
            "--callgrind-out-file=\(file.replacingOccurrences(of: "%", with: "%%"))",
        ]
    }

    /// The command that runs a program under callgrind, without the program.
    func words(writingTo file: String) -> [String] { [program] + options(writingTo: file) }

    private static let fileName = "callgrind"

    /// Runs a program's samples under callgrind.
    ///
    /// - Parameter folder: the absolute path of the folder for the files.
    func running(_ copy: UndebuggedCopy, filesIn folder: WrittenFolder) -> ChildProcess {
        ChildProcess(executable: copy.path, tool: words(writingTo: folder.file(Self.fileName)))
    }

    /// The counts of the round with the fewest instructions; each round has `phases` marks.
    ///
    /// - Throws: `ProfileFailure`, `StackFileError`.
    static func read(rounds: Int, phases: Int = 1, from folder: WrittenFolder) throws -> StackProfile {
        var least: (files: [[UInt8]], total: Int64) = ([], .max)
        for round in 0..<rounds {
            let files = try (1...max(1, phases)).map { mark in
                guard let file = try? FileBytes.read(folder.file("\(fileName).\(round * phases + mark)")) else {
                    throw ProfileFailure(
                        description: "callgrind did not see the marks of a round: does the program have symbols?")
                }
                return file
            }
            let total = try files.reduce(Int64(0)) { sum, file in
                let (total, isTooGreat) = sum.addingReportingOverflow(try CallgrindProfile.total(of: file))
                if isTooGreat { throw ProfileFailure(description: "the counts of callgrind exceed 64 bits") }
                return total
            }
            if total < least.total { least = (files, total) }
        }
        var profile = CallgrindProfile()
        for file in least.files { try profile.add(file) }
        return profile.profile
    }

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

/// Marks rounds for callgrind. Does nothing without callgrind.
final class CountingRecorder: ProfileRecorder {
    func begin() {}
    func roundBegins() { clinux_counting_begins() }
    func roundDrained() { clinux_counting_ends() }
    func end() {}
}
