import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// A baseline that a policy bounds drift against is missing.
struct MissingBaseline: Error, CustomStringConvertible {
    let error: InputError

    var description: String { error.description }
}

extension GatePolicy {
    /// The recorded runs that rules bound drift against.
    ///
    /// - Parameters:
    ///   - results: the folder of runs.
    ///   - file: the policy file, for errors.
    /// - Throws: `MissingBaseline`; `InputError` for a baseline that cannot be read.
    func anchors(in results: String, file: String?) throws -> [MeasuredRun] {
        let folder = "\(results)/baseline"
        return try baselines.map { name in
            let place = "\(folder)/\(name)"
            guard access("\(place)/\(SampleRow.fileName)", F_OK) == 0 else {
                let index = rules.firstIndex { $0.against == .baseline(name) } ?? 0
                throw MissingBaseline(
                    error: InputError(
                        file: file ?? "--policy", path: "$.rules[\(index)].against",
                        message: "there is no baseline \"\(name)\" in \(folder)",
                        remedy: "keep a run as it: opbench baseline RUN --name \(name)"))
            }
            let run = try MeasuredRun(place, in: results)
            guard !run.hasSides else {
                throw InputError(
                    file: place, message: "the baseline is a run of two builds, of which none is the baseline",
                    remedy: "keep a run of `opbench run` as it")
            }
            return MeasuredRun(name, in: run.folder, samples: run.samples, facts: run.facts)
        }
    }
}

extension [MeasuredRun] {
    /// As the input of a comparison.
    var baselines: [AnchoredComparison.Baseline] { map { ($0.name, $0.samples) } }
}
