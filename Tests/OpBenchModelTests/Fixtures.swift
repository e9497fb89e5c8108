import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

/// The files that these tests read, found relative to this file.
enum Fixtures {
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()
    static let package = here.deletingLastPathComponent().deletingLastPathComponent()
    static let schema = package.appending(path: "workloads/schema/workload.schema.json")
    static let verdictScript = here.appending(path: "schema_verdicts.py")

    /// The workloads of the default run.
    static let standard = files(in: package.appending(path: "workloads"))
    /// The additional workloads.
    static let more = files(in: package.appending(path: "workloads/more"))
    /// The workloads that compare the forms of backends.
    static let forms = files(in: package.appending(path: "workloads/forms"))
    /// The workloads that measure the engine's goals.
    static let engine = files(in: package.appending(path: "workloads/engine"))
    /// The workloads that show how its costs grow.
    static let growth = files(in: package.appending(path: "workloads/engine/growth"))
    /// All workloads that the project ships.
    static let shipped = standard + more + forms + engine + growth
    /// Valid workloads with unusual details.
    static let good = cases(in: "good")
    /// Refused by the schema and by the decoder.
    static let bad = cases(in: "bad")
    /// Workloads that a schema cannot refuse: only the decoder does.
    static let decoderOnly = cases(in: "decoder-only")

    /// The valid workloads of this folder, and all shipped ones.
    static func valid() throws -> [Case] {
        try good + shipped.map { Case(name: $0.lastPathComponent, text: try text($0)) }
    }

    static func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    private static func files(in directory: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().map { directory.appending(path: $0) }
    }

    /// A workload's text under the case's name.
    struct Case: CustomTestStringConvertible {
        let name: String
        let text: String
        var testDescription: String { name }
    }

    /// The cases of a file in Workloads, a line each: the name, a space, and the text.
    private static func cases(in file: String) -> [Case] {
        let text = (try? text(here.appending(path: "Workloads/\(file).txt"))) ?? ""
        return text.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return Case(name: String(words[0]), text: words.count == 1 ? "" : String(words[1]))
        }
    }

    /// Runs the body with a temporary file of that text.
    static func withFile<Result>(_ bytes: Data, _ body: (String) throws -> Result) throws -> Result {
        let url = URL(filePath: TemporaryFolder.unusedPath())
        try bytes.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url.path)
    }

    static func withFile<Result>(_ text: String, _ body: (String) throws -> Result) throws -> Result {
        try withFile(Data(text.utf8), body)
    }
}

/// Decodes a workload with default keys, except for those given as JSON.
func decode(
    shape: String = "independent", parameters: String = "{}", backends: String = #"["engine"]"#, more: String = ""
) throws -> WorkloadSpec {
    try WorkloadSpec.decode(
        text: """
            {"name": "sample", "summary": "A workload for tests", "shape": "\(shape)",
             "parameters": \(parameters), "backends": \(backends)\(more.isEmpty ? "" : ", " + more)}
            """, file: "sample.json")
}

/// The error that the body throws, or the first of several; a failure if it throws none.
func refusal(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> InputError {
    refusals(sourceLocation: sourceLocation, body).first
        ?? InputError(file: "", message: "not refused", remedy: "")
}

/// All mistakes that the body throws; a failure if it throws none.
func refusals(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> [InputError] {
    var refusals: [InputError] = []
    #expect(sourceLocation: sourceLocation) {
        try body()
    } throws: { error in
        refusals = (error as? InputErrors)?.errors ?? (error as? InputError).map { [$0] } ?? []
        return !refusals.isEmpty
    }
    return refusals
}
