import OpBenchModel
import OpBenchRunner

/// What `--version` prints: which opbench this is, and what it was built of.
enum ProgramVersion {
    static let number = OpBenchFacts.number

    /// - Parameters:
    ///   - program: the name of the program; of another than opbench itself, opbench is told beside it.
    ///   - opbench: that it is made with.
    static func text(
        _ build: BuildDescription, program: String = OwnProgram.name, opbench: OpBenchFacts = .own
    ) -> String {
        let isOther = program != OpBenchFacts.program
        let heading = isOther ? "\(program), made with opbench \(opbench.version)" : "opbench \(opbench.version)"
        let revision = isOther ? opbench.commit.map { "commit of opbench: \($0)\n" } ?? "" : ""
        return """
            \(heading)
            \(revision)commit: \(commit(of: build))
            build: \(build.configuration)
            allocator: \(build.allocator)
            compiler: \(build.compiler)
            """
    }

    private static func commit(of build: BuildDescription) -> String {
        guard let commit = build.commit else {
            return "unknown (OPBENCH_COMMIT tells a build; scripts/opbench and `ab --base-ref` set it)"
        }
        let mark = "-dirty"
        return commit.hasSuffix(mark) ? "\(commit.dropLast(mark.count)), and changes" : commit
    }
}
