import Foundation
import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchPage
import OpBenchProfile
import OpBenchRunner

extension MeasuredRun {
    /// The run for a page.
    func page() throws(InputError) -> PageRun {
        let description = RunDescription(self)
        let known: [(String, String?)] = [
            ("run", samples[0].runID), ("state", description.state), ("blocks", description.blocks),
            ("samples", description.samples), ("precision", facts.flatMap(RunDescription.precision)),
            ("command", facts.map { ShellWords.joined($0.arguments) }),
        ]
        let own: [PageRun.Fact] = known.compactMap { label, value in value.map { (label, $0) } }
        let summary = try ShownRun(self).rows
        let findings = FindingSentences(summary, SummaryContext(facts))
        return PageRun(
            name: name, heading: description.heading, sentences: findings.lines, samples: samples, summary: summary,
            latencies: try latencies(),
            workloads: (facts?.workloads ?? []).map { ($0.name, $0.file, $0.text) },
            facts: own + (facts?.environment.map { ($0.label, $0.value) } ?? []),
            explanations: explanations)
    }

    /// The latencies of the samples in the summary, from the histograms beside the rows, if there are any.
    private func latencies() throws(InputError) -> LatencyCurves {
        var curves = LatencyCurves()
        let file = "\(folder)/\(HistogramRow.fileName)"
        guard access(file, F_OK) == 0 else { return curves }
        let counted = Set(samples.lazy.filter { $0.status == .ok }.map(\.sampleID))
            .subtracting(SupersededSamples.ids(in: samples))
        for histogram in try CSVFile.read(HistogramRow.self, file: file) where counted.contains(histogram.sampleID) {
            curves.add(histogram)
        }
        return curves
    }
}

extension MeasuredRun {
    private static let mostExplanations = 50
    private static let explanationLimit = 1 << 20

    /// The texts that `opbench explain --output` wrote into a folder of the run, such as `RUN/explanation`, and the
    /// slowest operations of its profiles. A file that cannot be read is left out.
    var explanations: [String] {
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        func texts(_ suffix: String) -> [String] {
            paths.filter { $0.hasSuffix(suffix) }.sorted().prefix(Self.mostExplanations)
                .compactMap { try? TextFile.read("\(folder)/\($0)", limit: Self.explanationLimit) }
        }
        let tails = texts("/\(Tails.fileName)").compactMap { text in
            try? JSONDecoder().decode(Tails.self, from: Data(text.utf8))
        }
        return texts(ExplanationFolder.textSuffix) + tails.map(\.text)
    }
}
