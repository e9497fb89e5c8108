import CLinuxMeasure
import Foundation
import Glibc
import OpBenchModel
import OpBenchProfile

/// valgrind's callgrind, which runs a sample's program on a simulated processor and counts instructions, by stack.
///
/// It sees marks by the names of two functions (`--zero-before`, `--dump-before`), and for each round writes one file. Both
/// act on all threads; a switch of what is counted (`--toggle-collect`, `CALLGRIND_TOGGLE_COLLECT`) acts on the thread
/// alone that reaches it, and workers would not be counted.
///
/// Threads take turns on that processor. Two runs of the same program differ in what depends on turns: how often threads
/// spin, park and wake each other. That only adds to what the work takes, so that the round with the fewest instructions
/// repeats best.
struct Callgrind: Sendable {
    /// Of valgrind; another one in tests.
    var program = "valgrind"

    /// So many functions of a stack are told apart. Of malloc's slow paths, the deepest that libraries do for a function of
    /// the engine, all but a thousandth of the instructions have their caller then; each more takes time.
    private static let callers = 16
    /// Blocking operations may each have a thread.
    private static let mostThreads = 4000

    /// - Parameter file: of the first mark is `file.1`, and so on.
    private func options(writingTo file: String) -> [String] {
        [
            "--tool=callgrind", "-q", "--command-line-only=yes", "--vgdb=no", "--demangle=no", "--fair-sched=try",
            "--max-threads=\(Self.mostThreads)", "--separate-callers=\(Self.callers)",
            "--zero-before=clinux_counting_begins", "--dump-before=clinux_counting_ends",
            // A percent sign is the beginning of what callgrind replaces.
            "--callgrind-out-file=\(file.replacingOccurrences(of: "%", with: "%%"))",
        ]
    }

    private static let fileName = "callgrind"

    /// Samples of a program under callgrind.
    ///
    /// - Parameter folder: an absolute path; for the files.
    func running(_ copy: UndebuggedCopy, filesIn folder: WrittenFolder) -> ChildProcess {
        ChildProcess(executable: copy.path, tool: [program] + options(writingTo: folder.file(Self.fileName)))
    }

    /// What was counted of as many rounds, each of `phases` marks: that of the round with the fewest instructions.
    ///
    /// - Throws: `ProfileFailure`, `StackFileError`.
    static func read(rounds: Int, phases: Int = 1, from folder: WrittenFolder) throws -> StackProfile {
        var least: (files: [[UInt8]], total: Int64) = ([], .max)
        for round in 0..<rounds {
            let files = try (1...max(1, phases)).map { mark in
                guard let file = try? FileBytes.read(folder.file("\(fileName).\(round * phases + mark)")) else {
                    throw ProfileFailure(
                        description: "callgrind did not see the marks of a round: has the program symbols?")
                }
                return file
            }
            let total = try files.reduce(Int64(0)) { sum, file in
                let (total, isTooGreat) = sum.addingReportingOverflow(try CallgrindProfile.total(of: file))
                if isTooGreat { throw ProfileFailure(description: "callgrind counted more than can be summed up") }
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

    private static let remedy = "mend it such that `valgrind --tool=callgrind true` works, or install another version"

    private static func lastLine(of text: String) -> String {
        let line = text.split(separator: "\n").last { $0.contains { $0.isLetter } } ?? ""
        return line.isEmpty ? "" : ": \(line.prefix(200))"
    }
}

extension ProfileMeans {
    /// Whether instructions can be counted here. Starts valgrind; takes about a second.
    public static func ofInstructions() -> Answer { Callgrind().means() }
}

/// Tells callgrind of the marks. Elsewhere it does nothing.
final class CountingRecorder: ProfileRecorder {
    func begin() {}
    func roundBegins() { clinux_counting_begins() }
    func roundDrained() { clinux_counting_ends() }
    func end() {}
}
