import Foundation
import Testing

@testable import OpBenchModel

/// What each bad file is refused for: the path, a part of the message and, where a name is nearly right, the hint.
private let expected: [String: (path: String, message: String, hint: String)] = [
    "backends-duplicate": ("$.backends[1]", "engine appears twice", ""),
    "backends-empty": ("$.backends", "an empty list", ""),
    "backends-unknown": ("$.backends[1]", "unknown backend \"disptch\"", "did you mean \"dispatch\"?"),
    "backends-wrong-shape": ("$.backends[0]", "not defined for the shape independent", "engine, engine:counted"),
    "degree-zero": ("$.parameters.degree", "0 is out of range", "from 1 to 10000"),
    "depth-list-element": ("$.parameters.depth[2]", "1000000000000 is out of range", "from 1 to 1000000"),
    "depth-trillion": ("$.parameters.depth", "1000000000000 is out of range", "from 1 to 1000000"),
    "expect-ok": ("$.expect[0].status", "unknown status \"ok\"", "timeout, crashed, invalid"),
    "form-unknown": ("$.parameters.form", "unknown form \"blok\"", "did you mean \"block\"?"),
    "items-bad-element": ("$.parameters.items[2]", "0 is out of range", ""),
    "items-duplicate-spelling": ("$.parameters.items[1]", "100 appears twice", ""),
    "items-empty-list": ("$.parameters.items", "an empty list", ""),
    "items-float": ("$.parameters.items", "1.5 is not a whole number", ""),
    "items-huge": ("$.parameters.items", "1e400 is out of range", ""),
    "items-negative": ("$.parameters.items", "-5 is out of range", "from 1 to 1000000000"),
    "items-null": ("$.parameters.items", "null stands where", ""),
    "items-string": ("$.parameters.items", "a string stands where", "a whole number"),
    "items-zero": ("$.parameters.items", "0 is out of range", ""),
    "json-not-utf8": ("", "not UTF-8", ""),
    "json-trailing-comma": ("", "not JSON at line 1, column 14", "trailing commas"),
    "kind-unknown": ("$.parameters.kind", "unknown kind \"diamonds\"", "did you mean \"diamond\"?"),
    "max-concurrent-word": ("$.parameters.max_concurrent", "unknown max_concurrent", "\"default\""),
    "metrics-of-no-use": ("$.metrics[1]", "wakeup has no memory samples", "throughput, latency, check"),
    "metrics-unknown": ("$.metrics[0]", "unknown sample kind \"troughput\"", "did you mean \"throughput\"?"),
    "missing-shape": ("$", "the key \"shape\" is missing", ""),
    "mix-all-zero": ("$.parameters.mix", "no weight is above 0", ""),
    "mix-unknown-level": ("$.parameters.mix.hihg", "unknown key \"hihg\"", "did you mean \"high\"?"),
    "name-line-feed": ("$.name", #""a\n" is no workload name"#, ""),
    "parameter-unknown": ("$.parameters.item", "unknown key \"item\"", "did you mean \"items\"?"),
    "phase-list": ("$.parameters.phases[0].parameters.depth", "a list stands where", "a whole number"),
    "phase-name-long": ("$.parameters.phases[0].name", "is no phase name", "1 to 32"),
    "phase-nameless": ("$.parameters.phases[0]", "the key \"name\" is missing", "a name and a shape"),
    "phase-parameter": ("$.parameters.phases[1].parameters.items", "unknown key \"items\"", "depth"),
    "phase-shape": ("$.parameters.phases[0].shape", "unknown shape \"sequence\"", "independent, chain"),
    "phases-empty": ("$.parameters.phases", "an empty list", ""),
    "phases-many": ("$.parameters.phases", "17 phases", "at most 16"),
    "phases-word": ("$.parameters.phases", "a string stands where", "a list of phases"),
    "rate-word": ("$.parameters.rate", "unknown rate \"serch\"", "\"search\" or a whole number from 1"),
    "sample-kinds-and-metrics": ("$.sample_kinds", "two names of one list", "keep one"),
    "sample-kinds-unknown": ("$.sample_kinds[1]", "unknown sample kind \"memry\"", "did you mean \"memory\"?"),
    "seed-list": ("$.parameters.seed", "takes one value", ""),
    "shape-unknown": ("$.shape", "unknown shape \"chains\"", "did you mean \"chain\"?"),
    "skip-below-on-word": ("$.skip[0].when.form.below", "unknown key", "equals"),
    "skip-unknown-parameter": ("$.skip[0].when.depth", "unknown key", "items"),
    "thread-priority-above-one": (#"$.parameters.mix["1.5"]"#, "unknown key", "from 0.0 to 1.0"),
    "unknown-key": ("$.paramters", "unknown key", "did you mean \"parameters\"?"),
    // What a schema cannot say.
    "duplicate-key": ("$.parameters.items", "the key \"items\" appears twice", ""),
    "duplicate-key-at-root": ("$.name", "the key \"name\" appears twice", ""),
    "duplicate-key-by-escape": ("$.name", "the key \"name\" appears twice", ""),
    "lone-surrogate": ("", "surrogate", ""),
    "mixes-equal-but-for-zero": ("$.parameters.mix[1]", "low:1 appears twice", ""),
    "phase-names-twice": ("$.parameters.phases[1]", "two phases are named a", "differently"),
    "phase-pauses": ("$.parameters", "in its phase a, its pauses take 1000 s", "at most 600 s"),
    "phase-searches": ("$.parameters", "its phase a does not say at which rate", "give it a rate"),
    "pauses-too-long": ("$.parameters", "its pauses take 701 s", "at most 600 s"),
    "product-too-large": ("$.parameters", "160000 cells", "at most 100000"),
    "limit-without-queue": ("$.parameters", "no queue whose limit", "\"default\""),
    "waits-at-limit-one": ("$.parameters", "cannot start at max_concurrent 1", "at least 2"),
    "sleeps-too-long": ("$.parameters", "sleep for 1000 s", "at most 600 s"),
    "search-with-stall": ("$.parameters", "it searches a rate and stalls", "leave stall_ns at 0"),
    "toggles-too-long": ("$.parameters", "2000 s", "at most 600 s"),
    "too-many-chained-operations": ("$.parameters", "21000000 operations", "at most 20000000"),
    "too-many-dependencies": ("$.parameters", "100000000 dependencies", "at most 50000000"),
    "too-many-operations": ("$.parameters", "20000001 operations", ""),
    "tree-too-deep": ("$.parameters", "it has 9223372036854775807 operations", "at most 20000000"),
    "weight-in-two-spellings": (#"$.parameters.mix["0.50"]"#, "the weight of 0.5 is given twice", ""),
]

@Suite("Bad workloads")
struct BadWorkloadTests {
    @Test(
        "Each is refused on one line that names the file and what to do", arguments: Fixtures.bad + Fixtures.decoderOnly
    )
    func refused(file: URL) throws {
        let errors = refusals { _ = try WorkloadSpec.load(file: file.path) }
        let error = try #require(errors.first)
        let name = file.deletingPathExtension().lastPathComponent
        #expect(errors.count == 1 || Self.severalMistakes.contains(name), "\(errors)")
        #expect(error.file == file.path)
        #expect(!error.message.isEmpty && !error.remedy.isEmpty)
        #expect(!error.description.contains("\n"))
        if let expected = expected[name] {
            #expect(error.path == expected.path)
            #expect(error.message.contains(expected.message), "\(error)")
            #expect(expected.hint.isEmpty || error.remedy.contains(expected.hint), "\(error)")
        }
    }

    /// All others have one, however much it spoils.
    private static let severalMistakes: Set<String> = ["json-comment", "json-trailing-comma", "skip-unknown-key"]

    @Test("Every file that is expected to fail in a certain way exists")
    func complete() {
        let names = (Fixtures.bad + Fixtures.decoderOnly).map { $0.deletingPathExtension().lastPathComponent }
        #expect(Set(expected.keys).subtracting(names) == [])
        #expect(Fixtures.bad.count > 100 && Fixtures.decoderOnly.count >= 10)
    }

    @Test("Files that cannot be read say why")
    func unreadable() throws {
        #expect(refusal { _ = try WorkloadSpec.load(file: "/no/such.json") }.message == "no such file")
        #expect(refusal { _ = try WorkloadSpec.load(file: "/") }.message.contains("irectory"))
        let large = Data(repeating: UInt8(ascii: " "), count: 5 << 20)
        try Fixtures.withFile(large) { file in
            #expect(refusal { _ = try WorkloadSpec.load(file: file) }.message.contains("4 MiB"))
        }
        try Fixtures.withFile(Data("{\n\n\"é\u{e9}".utf8) + [0xC3]) { file in
            #expect(refusal { _ = try WorkloadSpec.load(file: file) }.line == 3)
        }
    }

    @Test("Two workloads of one name do not run together, nor one file twice")
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
                #expect(error.file == two && error.message.contains("180000 cells"))
            }
        }
    }
}
