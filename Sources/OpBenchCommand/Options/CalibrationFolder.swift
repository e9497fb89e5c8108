import Foundation
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// The runs of one build against itself that `opbench calibrate` keeps, and the noise floors that follow from them.
struct CalibrationFolder {
    let path: String

    /// - Parameter results: the folder of runs.
    init(in results: String) { path = "\(results)/calibration" }

    private var file: String { "\(path)/\(NoiseFloorRow.fileName)" }

    /// The floors measured on the host, and with the kind of build, of each cell of a run; none if nothing is known of it.
    func floors(for facts: RunFacts?) throws(InputError) -> KnownNoiseFloors {
        guard let facts else { return KnownNoiseFloors() }
        return KnownNoiseFloors(try rows()) { facts.machine(of: $0)?.kind }
    }

    func floors(for host: HostKind) throws(InputError) -> KnownNoiseFloors {
        KnownNoiseFloors(try rows(), of: host)
    }

    private func rows() throws(InputError) -> [NoiseFloorRow] {
        guard FileManager.default.fileExists(atPath: file) else { return [] }
        return try CSVFile.read(NoiseFloorRow.self, file: file)
    }

    /// Measures the floors of a host anew from all its runs, and saves them beside those of other hosts.
    ///
    /// - Returns: that host's.
    func update(for facts: RunFacts) throws -> [NoiseFloorRow] {
        let host = facts.hostKind
        let runs = try runs(of: host)
        let ofBuild = runs.filter { $0.facts?.builds == facts.builds }
        let floors = NoiseFloors.of(host, runs: runs.map(\.samples), ofOneBuild: ofBuild.map(\.samples))
        let others = try rows().filter { $0.host != host }
        let folder = try WrittenFolder(path)
        try folder.refuseForeign([NoiseFloorRow.fileName])
        try folder.replace(NoiseFloorRow.fileName, by: CSVFile.text(of: others + floors))
        return floors
    }

    private func runs(of host: HostKind) throws(InputError) -> [RecordedRun] {
        var runs: [RecordedRun] = []
        for name in ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() {
            guard FileManager.default.fileExists(atPath: "\(path)/\(name)/run.json") else { continue }
            let run = try RecordedRun("\(path)/\(name)", in: path)
            if let facts = run.facts, facts.hostKind == host { runs.append(run) }
        }
        return runs
    }
}
