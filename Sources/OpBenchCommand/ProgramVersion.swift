import OpBenchRunner

/// What `--version` prints: which opbench this is, and what it was built of.
enum ProgramVersion {
    static let number = "0.1.0"

    static func text(_ build: BuildDescription) -> String {
        """
        opbench \(number)
        commit: \(commit(of: build))
        build: \(build.configuration)
        allocator: \(build.allocator)
        compiler: \(build.compiler)
        """
    }

    private static func commit(of build: BuildDescription) -> String {
        guard let commit = build.commit else { return "unknown (scripts/opbench and `opbench ab --base-ref` tell it)" }
        let mark = "-dirty"
        return commit.hasSuffix(mark) ? "\(commit.dropLast(mark.count)), and changes" : commit
    }
}
