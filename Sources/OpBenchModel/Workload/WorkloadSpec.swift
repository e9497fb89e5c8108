/// A workload file, decoded and wholly validated.
public struct WorkloadSpec: Sendable {
    /// The path as the user gave it.
    public var file: String
    /// The file's bytes as read, and their SHA-256 in hexadecimal.
    public var text: String
    public var sha256: String
    public var name: String
    public var summary: String
    public var shape: Shape
    /// The values of each parameter that the file names, in the file's order; one value or several.
    public var axes: [String: [ParameterValue]]
    /// Parameters whose lists go together, none of them among the axes.
    public var zips: [ParameterZip]
    /// The product of all lists, in a stable order, expanded when the lists were checked; or what was selected of it.
    public var cells: [Cell] = []
    public var backends: [BackendID]
    public var sampleKinds: Set<SampleKind>
    public var skips: [SkipRule]
    public var expectations: [Expectation]

    init(
        file: String, text: String, sha256: String, name: String, summary: String, shape: Shape,
        axes: [String: [ParameterValue]], zips: [ParameterZip] = [], backends: [BackendID],
        sampleKinds: Set<SampleKind>,
        skips: [SkipRule] = [], expectations: [Expectation] = []
    ) {
        self.file = file
        self.text = text
        self.sha256 = sha256
        self.name = name
        self.summary = summary
        self.shape = shape
        self.axes = axes
        self.zips = zips
        self.backends = backends
        self.sampleKinds = sampleKinds
        self.skips = skips
        self.expectations = expectations
    }
}
