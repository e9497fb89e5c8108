import CLinux
import CLinuxMeasure
import Glibc
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile

/// A program to profile, found and checked.
public struct ProgramToProfile: Sendable {
    /// Its file.
    let path: String
    /// Its arguments, its own name first, as the user typed it.
    let words: [String]

    /// - Parameter words: its path, or its name to look up in PATH, and its arguments.
    /// - Throws: `InputError` if there is no such program, or its file cannot be executed.
    public init(_ words: [String]) throws(InputError) {
        guard let name = words.first, !name.isEmpty else {
            throw InputError(
                file: "--", message: "no program follows",
                remedy: "name one: opbench profile -- ./server --port 8080")
        }
        self.words = words
        path = try Self.find(name)
        try Self.check(path)
    }

    /// The name of its file, without the folder.
    var name: String { words[0].split(separator: "/").last.map(String.init) ?? words[0] }

    private static func find(_ name: String) throws(InputError) -> String {
        if name.contains("/") { return name }
        let folders = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
        guard let path = folders.map({ "\($0)/\(name)" }).first(where: isExecutable) else {
            throw InputError(
                file: name, message: "no such program in PATH", remedy: "name its file, such as ./\(name)")
        }
        return path
    }

    private static func isExecutable(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// Rights that a file gives to the process that executes it. The dynamic linker then preloads nothing, ld.so(8).
    enum FileRights: String, CaseIterable {
        case setuid, setgid
        case capabilities = "file capabilities"

        /// The first that the kernel grants.
        ///
        /// - Parameters:
        ///   - user: the real user who executes it.
        ///   - group: the real group.
        static func granted(by file: stat, hasCapabilities: Bool, to user: uid_t, _ group: gid_t) -> FileRights? {
            // Without the right to execute, the bit of the group means something else.
            let asGroup = S_ISGID | S_IXGRP
            if file.st_mode & S_ISUID != 0, file.st_uid != user { return .setuid }
            if file.st_mode & asGroup == asGroup, file.st_gid != group { return .setgid }
            return hasCapabilities && user != 0 ? .capabilities : nil
        }
    }

    /// Why no library can be preloaded; nil if the file does not forbid it.
    var preloadLack: (reason: String, remedy: String)? {
        var facts = stat()
        var system = statvfs()
        // The kernel ignores such rights of scripts and where the mount or the process forbids them.
        guard !Self.beginning(of: path).starts(with: Self.beginnings[1]), stat(path, &facts) == 0,
            statvfs(path, &system) == 0, system.f_flag & UInt(ST_NOSUID) == 0,
            !SystemFile.text("/proc/self/status").contains("NoNewPrivs:\t1"),
            let rights = FileRights.granted(
                by: facts, hasCapabilities: clinux_gives_capabilities(path), to: getuid(), getgid())
        else { return nil }
        return (
            "nothing can be preloaded into a program with rights of its own (\(rights.rawValue))",
            "profile a copy without them, made by cp(1), or run it as the user that it becomes"
        )
    }

    /// The first bytes; empty for a file that may only be executed.
    private static func beginning(of path: String) -> ArraySlice<UInt8> {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4)
        let count = read(file, &bytes, bytes.count)
        return bytes.prefix(max(0, count))
    }

    /// The beginnings of files that the kernel executes: ELF, and scripts with an interpreter.
    private static let beginnings = [[0x7F, 0x45, 0x4C, 0x46], Array("#!".utf8)]

    private static func check(_ path: String) throws(InputError) {
        if isExecutable(path) {
            // A file that may only be executed is not checked further.
            guard access(path, R_OK) == 0 else { return }
            let bytes = beginning(of: path)
            if beginnings.contains(where: { bytes.starts(with: $0) }) { return }
            throw InputError(
                file: path, message: "the file is no program",
                remedy: "name an ELF file, or a script that begins with #!")
        }
        var facts = stat()
        if stat(path, &facts) != 0 {
            throw InputError(
                file: path, message: "no such program: \(String(cString: strerror(errno)))", remedy: "name its file")
        }
        throw InputError(file: path, message: "the file is not executable", remedy: "name a program, or chmod +x it")
    }
}

/// The profile of one execution of a program.
public struct ProfiledProgram: Sendable {
    /// Its words, its own name first.
    public let words: [String]
    /// From its beginning to its end, in nanoseconds.
    public let duration: Int64
    /// Whether it was asked to end because its time was over.
    public let wasStopped: Bool
    let ending: Program.Ending
    /// The CPU time of the recorders' processes in that time, in nanoseconds; nil if it is unknown.
    let recorderTime: Int64?
    public internal(set) var sections: [ProfileSection] = []
    /// The folder with the files; nil if there are none.
    public internal(set) var folder: String?

    /// The exit status of the program as a shell reports it: 128 and the number of the signal that ended it; 0 if it
    /// ended by the signal that asked it to.
    public var status: Int32 {
        switch ending {
        case .exited(let code): code
        case .signaled(let signal):
            wasStopped && ProgramProfiler.requestsToEnd.contains(signal) ? 0 : 128 + signal
        case .timedOut: 128 + SIGKILL
        }
    }

    /// How it ended, in words.
    public var endingWords: String {
        let how =
            switch ending {
            case .exited(let code): "exit status \(code)"
            case .signaled(let signal): "ended by \(SignalName.of(signal))"
            case .timedOut: "killed"
            }
        return wasStopped ? "asked to end, \(how)" : how
    }

    /// The known cost of profiling, in words; nil if none is known.
    public var costWords: String? {
        let processors = max(1, Int(clinux_allowed_processors()))
        let ofRecorders = recorderTime.map { time in
            let share = Double(time) / Double(max(1, duration)) / Double(processors)
            return "the recorders took \(Quantities.time(time)) of CPU time meanwhile, \(Quantities.percent(share)) of "
                + counted(processors, "processor")
        }
        let rates = sections.filter { $0.events > 0 }.map { section in
            "\(Quantities.count(Double(section.events) * 1e9 / Double(max(1, duration)))) "
                + (section.kind == .cpu ? "samples" : "switches")
        }
        if rates.isEmpty { return ofRecorders }
        let also = ofRecorders == nil ? "" : "also "
        let inProgram = "each of the \(rates.joined(separator: " and ")) per second \(also)took time in the program"
        return [ofRecorders, inProgram].compactMap(\.self).joined(separator: "; ")
    }
}

extension ProfileMeans {
    /// The methods for another program than a sample: those that need no code in it.
    public func forProgram(_ program: ProgramToProfile) -> ProfileMeans {
        var means = self
        if let lack = program.preloadLack { means.answers[.heap] = Answer(nil, lack: lack.reason, remedy: lack.remedy) }
        for kind in [ProfileKind.cpu, .offcpu] {
            let answer = self[kind]
            if [.perf, .perfSwitches].contains(answer.means) { continue }
            means.answers[kind] = Answer(nil, lack: answer.lack, remedy: answer.remedy)
        }
        return means
    }
}
