import OpBenchLaunch
import OpBenchModel

/// The commit that the program was built from: recorded at build time, or else the commit of the repository that holds
/// it.
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
    /// The facts that a build recorded about its sources.
    init?(_ build: BuildDescription) {
        guard let text = build.commit else { return nil }
        let hash = text.prefix { $0 != "-" }
        self.init(commit: String(hash), isDirty: hash.count < text.count)
    }

    /// The facts recorded when this program was built, or else git's answer for its folder; nil without git or outside
    /// a repository.
    ///
    /// A repository's configuration can name programs for git to run. `Git` prevents that.
    static func read() async -> GitFacts? {
        if let facts = GitFacts(.own) { return facts }
        guard let path = OwnProgram.path else { return nil }
        return await read(folder: WrittenFolder.holding(path))
    }

    static func read(folder: String) async -> GitFacts? {
        guard let commit = await git(folder, ["rev-parse", "HEAD"]),
            let filters = await filterNames(folder),
            let changes = await git(
                folder, ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"],
                without: filters, seconds: Git.secondsOfStatus)
        else { return nil }
        return GitFacts(
            commit: String(commit.prefix { !$0.isWhitespace }), isDirty: !changes.allSatisfy(\.isWhitespace))
    }

    /// The configured filters, which git would run on the files that it compares; nil if there are too many to disable.
    private static func filterNames(_ folder: String) async -> [String]? {
        // git fails if there are none.
        let listed = await git(folder, ["config", "--null", "--name-only", "--get-regexp", "^filter\\."]) ?? ""
        let names = listed.utf8.split(separator: 0).compactMap { key -> String? in
            let parts = key.split(separator: UInt8(ascii: "."))
            guard parts.count >= 3, let last = parts.last, let first = parts.first else { return nil }
            return String(decoding: key.dropFirst(first.count + 1).dropLast(last.count + 1), as: UTF8.self)
        }
        let distinct = Set(names).sorted()
        return distinct.count <= 100 ? distinct : nil
    }

    private static func git(
        _ folder: String, _ arguments: [String], without filters: [String] = [],
        seconds: Double = Program.secondsToAnswer
    ) async -> String? {
        let ended = try? await Git.run(arguments, in: folder, without: filters, seconds: seconds)
        return ended.flatMap { $0.isSuccess ? $0.text : nil }
    }
}
