import OpBenchModel
import OpBenchRunner

/// The output of `--version`: the version of opbench, and how it was built.
enum ProgramVersion {
    static let number = OpBenchFacts.number

    /// - Parameters:
    ///   - program: the name of the program; if it is not opbench itself, the text includes both.
    ///   - opbench: the opbench that it was built with.
    static func text(
        _ build: BuildDescription, program: String = OwnProgram.name, opbench: OpBenchFacts = .own
    ) -> String {
        let isOther = program != OwnProgram.usualName
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
            return "unknown (set OPBENCH_COMMIT when building; scripts/opbench and `ab --base-ref` do)"
        }
        let mark = "-dirty"
        return commit.hasSuffix(mark) ? "\(commit.dropLast(mark.count)), and changes" : commit
    }
}
