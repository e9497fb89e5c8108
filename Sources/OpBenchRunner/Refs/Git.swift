import Glibc
import OpBenchLaunch
import OpBenchModel

/// Runs git without the programs that a repository's configuration names, except filters of files.
enum Git {
    /// Options that disable what runs programs or writes files during a read: the file system monitor, hooks,
    /// transports that fetch what a partial clone lacks, the pager.
    private static let harmless = [
        "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never", "-c",
        "diff.external=", "-c", "core.pager=cat", "--no-pager", "--no-optional-locks",
    ]

    /// The time limit of a `status`, in seconds: it reads about every file, perhaps from a slow disk.
    static let secondsOfStatus = 600.0

    /// - Parameters:
    ///   - filters: filters of files to disable.
    ///   - seconds: the time limit; nil for a command that works and does not only answer.
    /// - Throws: an error if git cannot be started; `BuildError` if it gives no answer; `CancellationError` if the task
    ///   is cancelled.
    static func run(
        _ arguments: [String], in folder: String, without filters: [String] = [],
        seconds: Double? = Program.secondsToAnswer
    ) async throws -> Program.Printed {
        // A group of its own keeps the terminal's Ctrl-C away, which would look like a failure of git.
        var git = Program(
            "git", harmless + ["-C", folder] + arguments,
            environment: environment(without: filters, trusting: await trustedFolders.value), hasOwnGroup: true)
        // On SIGTERM, git removes its lock files.
        git.requestsToEnd = [.init(SIGTERM, seconds: 5)]
        let result = try await git.printed(errorLimit: 1 << 16, seconds: seconds)
        try Task.checkCancellation()
        if result.ending == .timedOut, let seconds {
            throw BuildError(
                message: "git \(arguments.joined(separator: " ")) gave no answer in \(FigureText.write(seconds)) s",
                remedy: "run it by hand in \(folder) to see why")
        }
        return result
    }

    /// The values of `safe.directory` in effect for this process: from `GIT_CONFIG_COUNT` and related variables, as CI
    /// systems and containers set them, or from a file. As in git, a repository's own configuration does not count.
    /// Read once per process.
    private static let trustedFolders = Task { () -> [String] in
        let result = try? await Program(
            "git", ["config", "--null", "--show-scope", "--get-all", "safe.directory"],
            environment: ToolEnvironment.quiet, in: "/"
        ).printed(limit: 1 << 16)
        // git fails if no value is set.
        guard let result, result.isSuccess else { return [] }
        let words = result.text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
        return stride(from: 0, to: words.count - 1, by: 2).compactMap { index in
            ["system", "global", "command"].contains(words[index]) ? words[index + 1] : nil
        }
    }

    /// Changes to this process's environment: they remove git's own variables, which could name another repository,
    /// configuration or programs. An empty command disables a filter; `-c` cannot express every filter's name.
    private static func environment(without filters: [String], trusting folders: [String]) -> [String: String?] {
        var changes = ToolEnvironment.quiet
        for name in OwnEnvironment.names where name.utf8.starts(with: "GIT_".utf8) { changes[name] = .some(nil) }
        let settings =
            folders.map { ("safe.directory", $0) }
            + filters.flatMap { name in
                [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")].map { key, value in
                    ("filter.\(name).\(key)", value)
                }
            }
        changes["GIT_NO_LAZY_FETCH"] = "1"
        changes["GIT_TERMINAL_PROMPT"] = "0"
        changes["GIT_CONFIG_COUNT"] = String(settings.count)
        for (index, (name, value)) in settings.enumerated() {
            changes["GIT_CONFIG_KEY_\(index)"] = name
            changes["GIT_CONFIG_VALUE_\(index)"] = value
        }
        return changes
    }
}
