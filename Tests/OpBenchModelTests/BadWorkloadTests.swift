import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("Bad workloads")
struct BadWorkloadTests {
    private let golden = Golden("bad-workloads")

    @Test("Each is refused on one line with the place and the remedy")
    func refused() throws {
        var lines: [String] = []
        for bad in Fixtures.bad + Fixtures.decoderOnly {
            let errors = refusals { _ = try WorkloadSpec.decode(text: bad.text, file: bad.name) }
            let error = try #require(errors.first)
            #expect(errors.count == 1 || Self.severalMistakes.contains(bad.name), "\(errors)")
            #expect(error.file == bad.name && !error.message.isEmpty && !error.remedy.isEmpty)
            #expect(!error.description.contains("\n"))
            lines.append(error.description)
        }
        #expect(Fixtures.bad.count > 100 && Fixtures.decoderOnly.count >= 30)
        golden.expect(lines.joined(separator: "\n"), "files")
    }

    @Test("A file that is not UTF-8 is refused with its name")
    func bytes() throws {
        try Fixtures.withFile(Data([0x22, 0xFF, 0x22])) { file in
            let error = refusal { _ = try WorkloadSpec.load(file: file) }
            #expect(error.file == file && error.path.isEmpty && error.message.contains("UTF-8"))
        }
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

    @Test("Two workloads with one name do not run together, nor one file twice")
    func sameName() throws {
        let file = Fixtures.standard[0].path
        try Fixtures.withFile(try Fixtures.text(Fixtures.standard[0])) { copy in
            for second in [copy, file] {
                let error = refusal { _ = try WorkloadSpec.load(files: [file, second]) }
                #expect(error.file == second && error.path == "$.name" && error.message.contains(file))
            }
        }
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
