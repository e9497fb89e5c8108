import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

/// The place at which each bad file is refused.
private let places: [String: String] = [
    "body-field": "$.parameters.body.memory.stride", "body-mix-in-mix": "$.parameters.body.mix[1].body.mix",
    "body-number": "$.parameters.body", "body-sleeps-too-long": "$.parameters",
    "body-stride-of-nothing": "$.parameters.body[1].memory.stride_bytes",
    "body-stride-too-long": "$.parameters", "body-two": "$.parameters.body", "body-unknown": "$.parameters.body",
    "body-weightless": "$.parameters.body.mix[0]",
    "backends-duplicate": "$.backends[1]", "backends-empty": "$.backends", "backends-unknown": "$.backends[1]",
    "backends-wrong-shape": "$.backends[0]", "degree-zero": "$.parameters.degree",
    "depth-list-element": "$.parameters.depth[2]", "depth-trillion": "$.parameters.depth",
    "expect-ok": "$.expect[0].status", "form-unknown": "$.parameters.form",
    "items-bad-element": "$.parameters.items[2]", "items-duplicate-spelling": "$.parameters.items[1]",
    "items-empty-list": "$.parameters.items", "items-float": "$.parameters.items", "items-huge": "$.parameters.items",
    "items-negative": "$.parameters.items", "items-null": "$.parameters.items", "items-string": "$.parameters.items",
    "items-zero": "$.parameters.items", "json-not-utf8": "", "json-trailing-comma": "",
    "kind-unknown": "$.parameters.kind", "max-concurrent-word": "$.parameters.max_concurrent",
    "missing-shape": "$",
    "mix-all-zero": "$.parameters.mix", "mix-unknown-level": "$.parameters.mix.hihg", "name-line-feed": "$.name",
    "parameter-unknown": "$.parameters.item",
    "rate-word": "$.parameters.rate", "sample-kinds-of-no-use": "$.sample_kinds[1]",
    "sample-kinds-unknown": "$.sample_kinds[1]", "seed-list": "$.parameters.seed", "shape-unknown": "$.shape",
    "skip-below-on-word": "$.skip[0].when.form.below", "skip-unknown-parameter": "$.skip[0].when.depth",
    "thread-priority-above-one": #"$.parameters.mix["1.5"]"#, "unknown-key": "$.paramters",
    "duplicate-key": "$.parameters.items", "duplicate-key-at-root": "$.name", "duplicate-key-by-escape": "$.name",
    "lone-surrogate": "", "mixes-equal-but-for-zero": "$.parameters.mix[1]",
    "pauses-too-long": "$.parameters", "product-too-large": "$.parameters", "limit-without-queue": "$.parameters",
    "waits-at-limit-one": "$.parameters", "sleeps-too-long": "$.parameters", "search-with-stall": "$.parameters",
    "toggles-too-long": "$.parameters", "too-many-chained-operations": "$.parameters",
    "too-many-dependencies": "$.parameters", "too-many-operations": "$.parameters", "tree-too-deep": "$.parameters",
    "recording-word": "$.parameters.recording", "recording-list": "$.parameters.recording",
    "recording-without-work": "$.parameters.recording",
    "recording-unknown-column": "$.parameters.recording.names",
    "recording-bad-run": "$.parameters.recording.gaps_ns[0]",
    "recording-odd-priority": "$.parameters.recording.priority[0]",
    "recording-negative-gap": "$.parameters.recording.gaps_ns[1]",
    "recording-lengths": "$.parameters.recording.cpu_ns",
    "recording-half-a-pair": "$.parameters.recording.dependency_steps",
    "recording-many": "$.parameters.recording.gaps_ns[0]",
    "recording-packed-negative": "$.parameters.recording.cpu_ns[0]",
    "recording-no-such-queue": "$.parameters.recording.queue",
    "recording-no-such-predecessor": "$.parameters.recording.dependency_distances",
    "recording-circle": "$.parameters.recording.dependency_distances",
    "recording-depends-twice": "$.parameters.recording.dependency_distances",
    "recording-cancelled-twice": "$.parameters.recording.cancellation_steps",
    "recording-too-slow": "$.parameters", "recording-empty-queue": "$.parameters",
    "weight-in-two-spellings": #"$.parameters.mix["0.50"]"#,
]

@Suite("Bad workloads")
struct BadWorkloadTests {
    private let golden = Golden("bad-workloads")

    @Test("Each is refused on one line that names the file and the remedy")
    func refused() throws {
        var lines: [String] = []
        for file in Fixtures.bad + Fixtures.decoderOnly {
            let errors = refusals { _ = try WorkloadSpec.load(file: file.path) }
            let error = try #require(errors.first)
            let name = file.deletingPathExtension().lastPathComponent
            #expect(errors.count == 1 || Self.severalMistakes.contains(name), "\(errors)")
            #expect(error.file == file.path && error.path == places[name] ?? error.path, "\(error)")
            #expect(!error.message.isEmpty && !error.remedy.isEmpty)
            #expect(!error.description.contains("\n"))
            lines.append(error.description.replacing(file.path, with: name))
        }
        golden.expect(lines.joined(separator: "\n"), "files")
    }

    @Test("Invalid values of --set are refused like those of a file")
    func overrides() throws {
        let spec = try decode()
        var lines: [String] = []
        for (name, values) in [
            ("items", ["0"]), ("items", ["many"]), ("items", []), ("items", ["5", "5"]), ("item", ["5"]),
            ("seed", ["1", "2"]), ("form", ["blok"]), ("items", ["20000001"]), ("items", ["nan"]), ("items", ["0x10"]),
            ("items", [""]),
        ] {
            let error = refusal { _ = try spec.overriding([name: values.map(ParameterValue.text)]) }
            lines.append("\(name) \(values): \(error)")
        }
        golden.expect(lines.joined(separator: "\n"), "--set")
    }

    /// All other files have one mistake, however much follows from it.
    private static let severalMistakes: Set<String> = ["json-comment", "json-trailing-comma", "skip-unknown-key"]

    @Test("Every file that is expected to fail in a certain way exists")
    func complete() {
        let names = (Fixtures.bad + Fixtures.decoderOnly).map { $0.deletingPathExtension().lastPathComponent }
        #expect(Set(places.keys).subtracting(names) == [])
        #expect(Fixtures.bad.count > 100 && Fixtures.decoderOnly.count >= 10)
    }

    @Test("Two workloads with one name do not run together, nor one file twice")
    func sameName() throws {
        let file = try #require(Fixtures.good.first)
        let error = refusal { _ = try WorkloadSpec.load(files: Fixtures.good.map(\.path)) }
        #expect(error.path == "$.name" && error.message.contains(file.path))
    }

    @Test("The cells of all files together are bounded")
    func totalProduct() throws {
        let list = (1...300).map(String.init).joined(separator: ",")
        func text(_ name: String) -> String {
            """
            {"name": "\(name)", "summary": "Many cells", "shape": "independent", "backends": ["engine"],
             "parameters": {"items": [\(list)], "window": [\(list)]}}
            """
        }
        try Fixtures.withFile(text("one")) { one in
            try Fixtures.withFile(text("two")) { two in
                let alone = try WorkloadSpec.load(files: [one])
                #expect(alone.count == 1)
                let error = refusal { _ = try WorkloadSpec.load(files: [one, two]) }
                #expect(error.file == two && error.message.contains("180000"))
            }
        }
    }
}
