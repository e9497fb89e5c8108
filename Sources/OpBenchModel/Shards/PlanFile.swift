/// A plan as its file holds it: everything that is to be measured, cell by cell, so that several machines can each measure a
/// part without asking each other.
///
/// The file names itself by its contents: `plan_sha256` is the digest of the canonical JSON of all other members. The same
/// workloads, options and opbench make the same plan, wherever and whenever.
public struct PlanFile: Sendable {
    /// What an opbench is. Another one may measure other things under the same names.
    public struct Program: Sendable, Hashable {
        public var version: String
        /// Of its sources; nil if nobody told when it was built.
        public var commit: String?

        public init(version: String, commit: String?) { (self.version, self.commit) = (version, commit) }

        /// For people.
        public var words: String { version + (commit.map { ", commit \($0)" } ?? "") }

        /// Whether the two are not known to differ.
        public func mayBe(_ other: Program) -> Bool {
            version == other.version && (commit == other.commit || commit == nil || other.commit == nil)
        }
    }

    /// A cell with all that is measured of it, on one machine.
    public struct PlannedCell: Sendable {
        public var id: String
        public var workload: String
        /// Of the workload's text.
        public var workloadSHA256: String
        public var parameters: [String: ParameterValue]
        /// Those that are run; not those that are skipped or cannot express the cell.
        public var backends: [BackendID]
        /// `base` and `head` where two builds are compared; else none.
        public var sides: [Side]
        public var blocks: [SampleKind: Int]
        /// How many samples there are of all backends, kinds and blocks.
        public var samples: Int
        /// A guess of what they take together.
        public var estimatedNanoseconds: Int64

        public init(
            id: String, workload: String, workloadSHA256: String, parameters: [String: ParameterValue],
            backends: [BackendID], sides: [Side] = [], blocks: [SampleKind: Int], samples: Int,
            estimatedNanoseconds: Int64
        ) {
            self.id = id
            self.workload = workload
            self.workloadSHA256 = workloadSHA256
            self.parameters = parameters
            self.backends = backends
            self.sides = sides
            self.blocks = blocks
            self.samples = samples
            self.estimatedNanoseconds = estimatedNanoseconds
        }
    }

    /// One of two builds that are compared: a program, and what is in its file.
    public struct Build: Sendable, Hashable {
        public var path: String
        public var sha256: String

        public init(path: String, sha256: String) { (self.path, self.sha256) = (path, sha256) }
    }

    public static let fileName = "plan.json"
    /// The largest file, in bytes: it holds whole workloads, and names every cell.
    public static let sizeLimit = 32 << 20
    static let format = "opbench-plan"
    static let version = 1

    public var program: Program
    public var seed: UInt64
    public var isQuick: Bool
    public var timeoutNanoseconds: Int64
    /// The two builds that are compared; nil for the one that runs the plan.
    public var builds: (base: Build, head: Build)?
    /// As they were read, narrowed to what was asked for: values of parameters, backends and kinds of sample.
    public var specs: [WorkloadSpec]
    public var cells: [PlannedCell]

    public init(
        program: Program, seed: UInt64, isQuick: Bool, timeoutNanoseconds: Int64,
        builds: (base: Build, head: Build)? = nil, specs: [WorkloadSpec], cells: [PlannedCell]
    ) {
        self.program = program
        self.seed = seed
        self.isQuick = isQuick
        self.timeoutNanoseconds = timeoutNanoseconds
        self.builds = builds
        self.specs = specs
        self.cells = cells
    }

    /// The plan's name: 64 hexadecimal digits.
    public var sha256: String { JSONValue.members(contents).canonicalSHA256 }

    /// The whole file.
    public var text: String {
        let members = contents
        let sha256 = JSONValue.members(members).canonicalSHA256
        let named = (members + [(Self.sha256Key, .string(sha256))]).sorted {
            $0.0.utf16.lexicographicallyPrecedes($1.0.utf16)
        }
        return JSONText.write(.members(named))
    }

    public var samples: Int { cells.reduce(0) { $0 + $1.samples } }
    public var estimatedSeconds: Double { cells.reduce(0) { $0 + Double($1.estimatedNanoseconds) / 1e9 } }

    /// The parts of the plan. See `ShardBalance`.
    public func balance(count: Int) -> ShardBalance {
        ShardBalance(cells.map { ($0.id, $0.estimatedNanoseconds) }, count: count)
    }

    /// The ids of the cells of a part.
    public func cells(of shard: Shard) -> Set<String> {
        Set(balance(count: shard.count).shards[shard.index - 1].cellIDs)
    }

    /// What a cell has in this plan, and not in another of the same program; nil if both plan the same.
    public func firstDifference(from other: PlanFile) -> String? {
        let others = Dictionary(other.cells.map { ($0.id, $0.json.canonical) }) { first, _ in first }
        if let cell = cells.first(where: { others[$0.id] != $0.json.canonical }) { return cell.id }
        let own = Set(cells.map(\.id))
        return other.cells.first { !own.contains($0.id) }?.id
    }

    // MARK: JSON

    static let sha256Key = "plan_sha256"

    /// All members but the digest.
    private var contents: [(String, JSONValue)] {
        [
            ("format", .string(Self.format)), ("format_version", .integer(Self.version)),
            ("opbench", program.json), ("seed", JSONValue(.number(JSONNumber(text: String(seed))))),
            ("quick", JSONValue(.boolean(isQuick))), ("timeout_ns", .integer(Int(timeoutNanoseconds))),
            (
                "builds",
                builds.map { .members([("base", $0.base.json), ("head", $0.head.json)]) } ?? JSONValue(.null)
            ),
            ("workloads", JSONValue(.array(specs.map(\.planned)))),
            ("cells", JSONValue(.array(cells.map(\.json)))),
        ]
    }
}

extension PlanFile.Program {
    fileprivate var json: JSONValue {
        .members([("commit", commit.map(JSONValue.string) ?? JSONValue(.null)), ("version", .string(version))])
    }
}

extension PlanFile.Build {
    fileprivate var json: JSONValue { .members([("path", .string(path)), ("sha256", .string(sha256))]) }
}

extension PlanFile.PlannedCell {
    var json: JSONValue {
        .members([
            ("backends", .strings(backends.map(\.rawValue))),
            (
                "blocks",
                .members(
                    SampleKind.allCases.compactMap { kind in blocks[kind].map { (kind.rawValue, .integer($0)) } })
            ),
            ("cell_id", .string(id)), ("estimated_ns", .integer(Int(estimatedNanoseconds))),
            ("parameters", .members(parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })),
            ("samples", .integer(samples)), ("sides", .strings(sides.map(\.rawValue))), ("workload", .string(workload)),
            ("workload_sha256", .string(workloadSHA256)),
        ])
    }
}

extension WorkloadSpec {
    /// The workload as a plan holds it: its text, and what is measured of it.
    fileprivate var planned: JSONValue {
        let kinds = SampleKind.allCases.filter(sampleKinds.contains)
        let zip = zips.isEmpty ? [] : [("zip", JSONValue(.array(zips.map(\.json))))]
        return .members(
            [
                ("backends", .strings(backends.map(\.rawValue))), ("file", .string(file)), ("name", .string(name)),
                (
                    "parameters",
                    .members(
                        axes.sorted { $0.key < $1.key }.map { name, values in
                            (name, values.count == 1 ? values[0].json : JSONValue(.array(values.map(\.json))))
                        })
                ),
                ("sample_kinds", .strings(kinds.map(\.rawValue))), ("sha256", .string(sha256)), ("text", .string(text)),
            ] + zip)
    }
}
