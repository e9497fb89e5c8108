import OpBenchModel

/// Lets callgrind count the samples of a run: keeps copies of their programs, and a folder for the counts.
///
/// Valgrind runs one thread at a time, so a sample is confined to one processor: backends then make threads for one, and
/// no second processor decides by chance which thread continues. On two, Dispatch's counts scattered by a tenth.
actor CallgrindSamples {
    private let launcher: [String]
    private var folder: PassingFolder?
    private var copies: [String: UndebuggedCopy] = [:]

    private static let fileName = "counts"

    /// - Parameter limits: the limits of the run's samples.
    init(_ limits: SampleLimits) {
        var limits = limits
        let processors = limits.processors ?? ProcessorLayout.here.usable
        limits.processors = processors.numbers.first.map { ProcessorSet([$0]) }
        launcher = LimitedProgram.launcher(for: limits)
    }

    /// - Parameter child: the process without callgrind.
    /// - Returns: the process of the sample under callgrind, the request to it, and changes to its environment.
    /// - Throws: `DiskError` if the program cannot be copied.
    func prepare(
        _ request: SampleRequest, for child: ChildProcess
    ) throws -> (child: ChildProcess, request: SampleRequest, environment: [String: String]) {
        let folder = try folder ?? PassingFolder()
        self.folder = folder
        let program = child.executable
        // A link could not be copied.
        let path = program == OwnProgram.link ? OwnProgram.path ?? program : program
        let copy = try copies[program] ?? UndebuggedCopy(of: path, at: "\(folder.path)/program\(copies.count)")
        copies[program] = copy
        let file = "\(folder.path)/\(Self.fileName)"
        var (child, request) = (child, request)
        child.executable = copy.path
        child.tool = launcher + Callgrind().words(writingTo: file)
        request.countsFile = file
        return (child, request, copy.environment)
    }
}
