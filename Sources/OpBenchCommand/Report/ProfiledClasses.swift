import Foundation
import OpBenchModel
import OpBenchPage
import OpBenchProfile

/// CPU time by the kind of code, from the profiles that lie in a run's folder: those of
/// `opbench profile --output RUN/profile`.
enum ProfiledClasses {
    /// What of speedscope's format is read; `StackProfile.speedscope` writes it.
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
        /// The first is of all threads.
        var profiles: [Profile]
    }

    private static let fileName = "cpu.speedscope.json"
    private static let mostFiles = 200
    private static let sizeLimit = 64 << 20

    /// - Throws: `InputError` if a profile is too large, or none.
    static func read(in folder: String) throws(InputError) -> [PageRun.CPUClasses] {
        let found = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let files = found.filter { $0.split(separator: "/").last.map(String.init) == fileName }.prefix(mostFiles)
            .sorted()
        var tables: [PageRun.CPUClasses] = []
        for file in files {
            let path = "\(folder)/\(file)"
            let text = try TextFile.read(path, limit: sizeLimit)
            guard let profile = try? JSONDecoder().decode(File.self, from: Data(text.utf8)) else {
                throw InputError(file: path, message: "this is no profile of opbench", remedy: "remove the file")
            }
            if let table = table(of: profile) { tables.append(table) }
        }
        return tables
    }

    private static func table(of file: File) -> PageRun.CPUClasses? {
        guard let profile = file.profiles.first, let start = file.name.firstRange(of: ": "),
            let middle = file.name.ranges(of: " on ").last, start.upperBound <= middle.lowerBound
        else { return nil }
        let classifier = FrameClassifier()
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
            backend: String(file.name[middle.upperBound...]),
            parts: FrameClass.allCases.compactMap { kind in
                sums[kind].map { (name: kind.words, part: $0 / total) }
            })
    }
}
