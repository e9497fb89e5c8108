import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchPage

extension RecordedRun {
    /// The run as a page shows it.
    func page() throws(InputError) -> PageRun {
        let doubtful = DoubtfulSamples(samples)
        let counted = "\(doubtful.total), of which \(doubtful.noisy) noisy and \(doubtful.unsteady) unsteady"
        let description = RunDescription(self)
        let known: [(String, String?)] = [
            ("run", samples[0].runID), ("state", description.state), ("samples", counted),
            ("command", facts.map { ShellWords.joined($0.arguments) }),
        ]
        let own = known.compactMap { label, value in value.map { (label, $0) } }
        return PageRun(
            name: name, heading: description.heading,
            warning: Disturbance.sentence(noisy: doubtful.noisy, of: doubtful.total) ?? "", samples: samples,
            summary: try ShownRun(self).rows,
            latencies: try latencies(),
            workloads: (facts?.workloads ?? []).map { .init(name: $0.name, file: $0.file, text: $0.text) },
            facts: (own + (facts?.environment.map { ($0.label, $0.value) } ?? [])).map { .init($0.0, $0.1) },
            classes: try ProfiledClasses.read(in: folder))
    }

    /// Of the histograms beside the rows, where there are any, of the samples that the summary counts.
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
