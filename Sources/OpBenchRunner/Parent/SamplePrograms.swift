import OpBenchModel

/// The programs that take a run's samples.
public enum SamplePrograms: Sendable {
    /// This program; nil if its file is gone.
    case own(BuildFacts?)
    /// Another build of it, such as one in several layouts.
    case one(BuildFacts)
    /// Two builds, which are interleaved.
    case two(ComparedBuilds)

    /// The one program; nil for two builds.
    var executable: BuildFacts? {
        switch self {
        case .own(let build): build
        case .one(let build): build
        case .two: nil
        }
    }

    /// The two builds; nil for one program.
    var builds: ComparedBuilds? { if case .two(let builds) = self { builds } else { nil } }

    /// The program that takes a sample, and the seed of its layout.
    func program(of sample: PlannedSample) -> (path: String, layout: Int?) {
        let build: BuildFacts
        switch self {
        case .own: return (ChildProcess.ownExecutable, nil)
        case .one(let one): build = one
        case .two(let builds): build = builds.build(of: sample.side ?? .head)
        }
        // Instructions are the same in all layouts, which lack the symbols that valgrind needs.
        return sample.kind == .instructions ? (build.path, nil) : build.program(ofBlock: sample.block)
    }
}
