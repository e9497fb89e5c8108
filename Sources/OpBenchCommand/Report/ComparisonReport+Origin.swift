import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

// What the figures of a comparison were measured of, and how quietly.

extension ComparisonReport {
    /// Of two interleaved builds: `base 00a160b1c2, head afe90963d4; blocks: 25 throughput, 2 memory`. Nil if they are unknown.
    var origin: String? {
        guard case .sides(let run) = compared, let builds = run.facts?.builds else { return nil }
        func words(_ build: BuildFacts) -> String {
            build.description.commit.map { String($0.prefix(10)) } ?? build.path
        }
        let blocks = RunDescription(run).blocks.map { "; blocks: \($0)" } ?? ""
        return "base \(words(builds.base)), head \(words(builds.head))\(blocks)"
    }

    /// The bound of what the inconclusive figures may hide: `no regression larger than 9.6 %`. Where no figure is
    /// inconclusive, the bound of the times that the machine is too noisy for. Nil if there are none of these, or if the
    /// bound is not known.
    var bound: String? {
        let open = rows.filter { $0.verdict == .inconclusive }
        let unseen = open.compactMap(\.mostUnseen)
        guard let most = unseen.max() else {
            let left = open.isEmpty ? rows.filter { $0.verdict == .unjudged }.compactMap(\.mostUnseen) : []
            return left.max().map { "time is not judged: no regression larger than \(Quantities.percent($0))" }
        }
        let silent = open.count - unseen.count
        let rest = silent == 0 ? "" : ", but for \(silent) of \(open.count) that tell nothing yet"
        return "inconclusive: no regression larger than \(Quantities.percent(most))\(rest)"
    }

    /// How many samples something else disturbed; nil if none.
    var noise: String? {
        let counts = compared.runs.map { DoubtfulSamples($0.samples) }
        let (noisy, total) = counts.reduce((0, 0)) { ($0.0 + $1.noisy, $0.1 + $1.total) }
        return noisy == 0 ? nil : "noisy: \(noisy) of \(total) samples, while something else used the machine"
    }
}
