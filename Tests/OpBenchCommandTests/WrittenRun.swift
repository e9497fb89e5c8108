import Foundation

@testable import OpBenchModel

/// A run that was never measured: a folder like that of `opbench run` or `opbench ab`, written by hand.
struct WrittenRun {
    var name: String
    var rows: [SampleRow] = []
    var arguments = ["opbench", "run", "--backend", "engine,dispatch", "w.json"]
    var started = "2026-11-20T10:00:00Z"
    var ended: String? = "2026-11-20T10:10:00Z"
    var state = "finished"
    var badSamples = 0
    var blocks = 7
    var samplesDone: Int?
    var hostClass = "some CPU x2 Linux 6.18"
    var commit: String?
    var isDirty = false
    /// The program that took the samples, and its SHA-256.
    var program: (path: String, sha256: String)?
    /// The description in `run.json` of the parts that were merged into it.
    var parts: [[String: Any]]?
    /// The commits of two interleaved builds, as reported by their programs.
    var commits: (base: String, head: String)?
    /// The values of --set.
    var settings: [String]?
    /// The names that the user gave them.
    var refs: (base: String, head: String)?
    /// The compiler that the base of two builds reports.
    var compilerOfBase = "Swift 6.3"
    var surroundings: [String: Any] = ["kernel": "Linux 6.18", "compiler": "Swift 6.3"]
    /// The samples as `run.json` lists them.
    var order = [
        "00000-throughput engine block=0 w depth=10", "00001-throughput dispatch block=0 w depth=10",
        "00002-check engine block=0 w depth=10",
    ]

    static let workload = """
        {"name": "w", "summary": "s", "shape": "chain", "parameters": {"depth": 10},
         "backends": ["engine", "dispatch"],
         "expect": [{"backend": "dispatch", "status": "crashed", "reason": "known"}]}
        """

    private var description: [String: Any] {
        var host: [String: Any] = [
            "surroundings": surroundings, "cpu": "some CPU", "cores": 2, "memory_bytes": 1, "host_class": hostClass,
            "allocator": "jemalloc 5.3", "configuration": "release",
        ]
        host["git"] = commit.map { ["commit": $0, "dirty": isDirty] as [String: Any] }
        var progress: [String: Any] = [
            "state": state, "samples_done": samplesDone ?? order.count, "samples_bad": badSamples,
            "blocks_done": blocks, "runner_cpu_ns": 1,
        ]
        progress["ended_utc"] = ended
        var facts: [String: Any] = [
            "schema_version": SchemaVersion.current, "run_id": name, "started_utc": started, "arguments": arguments,
            "plan": [
                "seed": 1, "quick": false, "timeout_ns": 30_000_000_000, "order": order,
                "workloads": [["file": "w.json", "name": "w", "sha256": "", "text": Self.workload]],
            ], "calibration": ["iterations_per_ns": 1], "host": host, "limits": [String: Any](), "progress": progress,
        ]
        facts["parts"] = parts
        facts["executable"] = program.map { path, sha256 in
            Self.build(path: path, sha256: sha256)
        }
        facts["settings"] = settings
        facts["refs"] = refs.map { ["base": $0.base, "head": $0.head] }
        facts["builds"] = commits.map { base, head in
            [
                "base": Self.build(path: "/base", commit: base, compiler: compilerOfBase),
                "head": Self.build(path: "/head", commit: head),
                "injected": ["slowdown": 0, "allocations": 0],
            ] as [String: Any]
        }
        return facts
    }

    private static func build(
        path: String, sha256: String? = nil, commit: String? = nil, compiler: String = "Swift 6.3"
    ) -> [String: Any] {
        var description: [String: Any] = [
            "protocol": 1, "allocator": "jemalloc 5.3", "configuration": "release", "compiler": compiler,
        ]
        description["commit"] = commit
        var facts: [String: Any] = ["path": path, "bytes": 1, "modified": 1, "description": description]
        facts["sha256"] = sha256
        return facts
    }

    /// - Parameter folder: the folder of runs.
    func write(to folder: String) throws {
        let path = "\(folder)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try JSONSerialization.data(withJSONObject: description).write(to: URL(fileURLWithPath: "\(path)/run.json"))
        if !rows.isEmpty {
            try Data(CSVFile.text(of: rows).utf8).write(to: URL(fileURLWithPath: "\(path)/\(SampleRow.fileName)"))
        }
    }

    /// Adds a sample of the cell `w depth=10`: one figure, and the row that ends it.
    mutating func add(
        _ backend: BackendID, block: Int, _ metric: Metric, _ value: Double, side: String = "",
        status: SampleStatus = .ok, phase: String = "total", stat: String = "total",
        flags: [SampleFlag] = []
    ) {
        let sampleID = "\(rows.count)-throughput"
        for (name, figure) in [(metric.name, Optional(value)), (Metric.status.name, nil)] {
            let isFigure = figure != nil
            rows.append(
                SampleRow(
                    runID: self.name, sampleID: sampleID, timestampUTC: "", workload: "w", cellID: "w depth=10",
                    backend: backend, side: side, block: block, position: 0, phase: isFigure ? phase : "",
                    status: status, flags: flags, metric: name, stat: isFigure ? stat : "", value: figure,
                    operations: 10,
                    parameters: ["depth": "10"]))
        }
    }
}
