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
        let own = known.compactMap { label, value in value.map { (label, $0) } }
        let summary = try ShownRun(self).rows
        let paths = paths
        let findings = FindingSentences(summary, SummaryContext(facts))
        return PageRun(
            name: name, heading: description.heading, sentences: findings.lines, samples: samples, summary: summary,
            latencies: try latencies(),
            workloads: (facts?.workloads ?? []).map { .init(name: $0.name, file: $0.file, text: $0.text) },
            facts: (own + (facts?.environment.map { ($0.label, $0.value) } ?? [])).map { .init($0.0, $0.1) },
            classes: try ProfiledClasses.read(paths, in: folder), explanations: explanations(among: paths))
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

    /// The paths of all files in the run's folder and below, relative to it.
    var paths: [String] { FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [] }

    /// The texts that `opbench explain --output` wrote into a folder of the run, such as `RUN/explanation`, and the
    /// slowest operations of its profiles. A file that cannot be read is left out.
    ///
    /// - Parameter paths: those of the run.
    func explanations(among paths: [String]) -> [String] {
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

/// CPU time by kind of code, from the profiles in a run's folder: those of `opbench profile --output RUN/profile`.
enum ProfiledClasses {
    /// The needed part of speedscope's format, which `StackProfile.speedscope` writes.
    private struct File: Decodable {
        struct Shared: Decodable { var frames: [Frame] }
        struct Frame: Decodable {
            var name: String
            var file: String?
        }
        struct Profile: Decodable {
            var samples: [[Int]]
            var weights: [Double]
        }

        /// `CPU time: CELL on BACKEND`
        var name: String
        var shared: Shared
        /// The first profile covers all threads.
        var profiles: [Profile]
    }

    private static let fileName = "cpu.speedscope.json"
    private static let mostFiles = 200
    private static let sizeLimit = 64 << 20

    /// - Parameter paths: those of the files in the folder, relative to it.
    /// - Throws: `InputError` if a profile is too large or malformed.
    static func read(_ paths: [String], in folder: String) throws(InputError) -> [PageRun.CPUClasses] {
        let files = paths.filter { $0.split(separator: "/").last.map(String.init) == fileName }.prefix(mostFiles)
            .sorted()
        var tables: [PageRun.CPUClasses] = []
        for file in files {
            let path = "\(folder)/\(file)"
            let text = try TextFile.read(path, limit: sizeLimit)
            guard let profile = try? JSONDecoder().decode(File.self, from: Data(text.utf8)) else {
                throw InputError(
                    file: path, message: "this is not a profile of opbench", remedy: "move it out of the run's folder")
            }
            if let table = table(of: profile) { tables.append(table) }
        }
        return tables
    }

    private static func table(of file: File) -> PageRun.CPUClasses? {
        guard let profile = file.profiles.first, let start = file.name.firstRange(of: ": "),
            let middle = file.name.ranges(of: " on ").last, start.upperBound <= middle.lowerBound
        else { return nil }
        let backend = String(file.name[middle.upperBound...])
        let classifier = FrameClassifier(BackendID(rawValue: backend))
        let classes = file.shared.frames.map { classifier.classify(StackFrame(name: $0.name, object: $0.file ?? "")) }
        var sums: [FrameClass: Double] = [:]
        for (stack, weight) in zip(profile.samples, profile.weights) where weight > 0 {
            let leaf = stack.last.flatMap { classes.indices.contains($0) ? classes[$0] : nil }
            sums[leaf ?? .unknown, default: 0] += weight
        }
        let total = sums.values.reduce(0, +)
        guard total > 0, total.isFinite else { return nil }
        return PageRun.CPUClasses(
            cellID: String(file.name[start.upperBound..<middle.lowerBound]),
            backend: backend,
            parts: classifier.classes.compactMap { kind in
                sums[kind].map { (name: kind.words, part: $0 / total) }
            })
    }
}
