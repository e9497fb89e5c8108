import Glibc
import Subprocess

/// The commit that the program was built from, as far as the folder it lies in tells.
struct GitFacts: Codable, Sendable, Equatable {
    var commit: String
    /// Whether files differ from the commit.
    var isDirty: Bool

    enum CodingKeys: String, CodingKey {
        case commit
        case isDirty = "dirty"
    }
}

extension GitFacts {
    /// Asks git about the folder of this program; nil without git, or outside of a repository.
    ///
    /// A repository's configuration can name programs for git to run. None of them is: see `git`.
    static func read() async -> GitFacts? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard length > 0 else { return nil }
        let path = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map {
            String(decoding: path.utf8[..<$0], as: UTF8.self)
        }
        return await read(folder: folder ?? "/")
    }

    static func read(folder: String) async -> GitFacts? {
        guard let commit = await git(folder, ["rev-parse", "HEAD"]),
            let filters = await filterNames(folder),
            let changes = await git(
                folder, ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"],
                without: filters)
        else { return nil }
        return GitFacts(
            commit: String(commit.prefix { !$0.isWhitespace }), isDirty: !changes.allSatisfy(\.isWhitespace))
    }

    /// The filters that the configuration defines, which git runs on files that it compares; nil if there are too many to
    /// be switched off.
    private static func filterNames(_ folder: String) async -> [String]? {
        // A status other than success means that there are none.
        let listed = await git(folder, ["config", "--null", "--name-only", "--get-regexp", "^filter\\."]) ?? ""
        let names = listed.utf8.split(separator: 0).compactMap { key -> String? in
            let parts = key.split(separator: UInt8(ascii: "."))
            guard parts.count >= 3, let last = parts.last, let first = parts.first else { return nil }
            return String(decoding: key.dropFirst(first.count + 1).dropLast(last.count + 1), as: UTF8.self)
        }
        let distinct = Set(names).sorted()
        return distinct.count <= 100 ? distinct : nil
    }

    /// What runs programs, or writes files, when git only looks: the monitor of changed files, hooks, transports that fetch
    /// what a partial clone lacks, a pager.
    private static let harmless = [
        "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never", "-c",
        "diff.external=", "-c", "core.pager=cat", "--no-pager", "--no-optional-locks",
    ]

    /// - Parameter filters: filters of files that are not to be run.
    private static func git(_ folder: String, _ arguments: [String], without filters: [String] = []) async -> String? {
        let result = try? await Subprocess.run(
            .name("git"), arguments: .init(harmless + ["-C", folder] + arguments),
            environment: environment(without: filters), input: .none, output: .string(limit: 1 << 20),
            error: .discarded)
        guard let result, result.terminationStatus.isSuccess else { return nil }
        return result.standardOutput
    }

    /// This process's environment without git's own variables, which could name another repository, a configuration or
    /// programs. A filter is switched off by an empty command; its name may hold what `-c` cannot say.
    private static func environment(without filters: [String]) -> Environment {
        var changes: [Environment.Key: String?] = [:]
        for pointer in sequence(first: environ, next: { $0 + 1 }) {
            guard let entry = pointer.pointee else { break }
            let name = String(decoding: String(cString: entry).utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            if name.utf8.starts(with: "GIT_".utf8), let key = Environment.Key(rawValue: name) {
                changes[key] = .some(nil)
            }
        }
        let settings =
            filters.flatMap { name in
                [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")].map { key, value in
                    ("filter.\(name).\(key)", value)
                }
            }
        var values = [
            "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": String(settings.count),
        ]
        for (index, (name, value)) in settings.enumerated() {
            values["GIT_CONFIG_KEY_\(index)"] = name
            values["GIT_CONFIG_VALUE_\(index)"] = value
        }
        for (name, value) in values { changes[Environment.Key(rawValue: name)!] = value }
        return .inherit.updating(changes)
    }
}
