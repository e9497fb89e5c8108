import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("Plans") struct PlanFileTests {
    private let golden = Golden("plan-refusals")
    private static let program = PlanFile.Program(version: "1.0", commit: "abc")

    private func plan(program: PlanFile.Program = Self.program, items: String = "[1, 2]") throws -> PlanFile {
        let text = """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": \(items)},
             "backends": ["engine", "serial"]}
            """
        let spec = try WorkloadSpec.decode(text: text, file: "w.json")
        return PlanFile(
            program: program, seed: 1, isQuick: false, timeoutNanoseconds: 30_000_000_000, specs: [spec],
            cells: spec.cells().enumerated().map { index, cell in
                .init(
                    id: cell.id, workload: "w", workloadSHA256: spec.sha256, parameters: cell.parameters,
                    backends: spec.backends, blocks: [.throughput: 7, .check: 1], samples: 16,
                    estimatedNanoseconds: Int64(1000 * (index + 1)))
            })
    }

    private func mistakes(_ text: String, for program: PlanFile.Program? = Self.program) -> [String] {
        do {
            _ = try PlanFile.decode(text: text, file: "plan.json", for: program)
            return []
        } catch {
            return error.errors.map(\.description)
        }
    }

    @Test("A plan is read as it was written, and is named by its contents")
    func roundTrip() throws {
        let plan = try plan()
        let read = try PlanFile.decode(text: plan.text, file: "plan.json", for: Self.program)
        #expect(read.text == plan.text && read.sha256 == plan.sha256)
        #expect(try self.plan().text == plan.text, "the same plan is the same bytes")
        #expect(try self.plan(items: "[1, 3]").sha256 != plan.sha256)
        #expect(try self.plan(program: .init(version: "1.0", commit: "abd")).sha256 != plan.sha256)
        // Laid out in another way it is the same plan.
        let object = try JSONSerialization.jsonObject(with: Data(plan.text.utf8))
        let other = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted])
        let again = try PlanFile.decode(
            text: String(decoding: other, as: UTF8.self), file: "plan.json", for: Self.program)
        #expect(again.sha256 == plan.sha256)
    }

    @Test("The digest is that of the canonical JSON without it")
    func digest() throws {
        let plan = try plan()
        var object = try #require(
            try JSONSerialization.jsonObject(with: Data(plan.text.utf8)) as? [String: Any])
        #expect(object.removeValue(forKey: "plan_sha256") as? String == plan.sha256)
        let canonical = try JSONSerialization.data(
            withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        #expect(SHA256.hexadecimal(of: Array(canonical)) == plan.sha256)
    }

    @Test("Any change is seen, wherever it is")
    func changes() throws {
        let text = try plan().text
        let changes = [
            ("\"samples\": 16", "\"samples\": 15"), ("\"estimated_ns\": 1000", "\"estimated_ns\": 1001"),
            ("\"seed\": 1", "\"seed\": 2"), ("\"quick\": false", "\"quick\": true"),
            ("\"throughput\": 7", "\"throughput\": 8"), ("\"file\": \"w.json\"", "\"file\": \"v.json\""),
        ]
        for (old, new) in changes {
            #expect(text.contains(old))
            let found = mistakes(text.replacing(old, with: new, maxReplacements: 1))
            #expect(found.count == 1 && found[0].contains("$.plan_sha256: "), "\(new): \(found)")
        }
    }

    @Test("All that is wrong is told at once")
    func allAtOnce() throws {
        let text = try plan().text
            .replacing("\"seed\": 1", with: "\"seed\": -1").replacing("\"samples\": 16", with: "\"samples\": 1.5")
            .replacing("\"workload\": \"w\"", with: "\"workload\": \"v\"", maxReplacements: 1)
            .replacing("\"backends\": [\"engine\", \"serial\"]", with: "\"backends\": [\"engin\"]", maxReplacements: 1)
        let found = mistakes(text)
        for place in ["$.seed: ", "$.cells[0].samples: ", "$.cells[1].samples: ", "$.plan_sha256: "] {
            #expect(found.contains { $0.contains(place) }, "\(place): \(found)")
        }
        golden.expect(found.joined(separator: "\n"), "several mistakes")
    }

    @Test("Another version, another opbench and another file are told as what they are")
    func others() throws {
        let text = try plan().text
        let newer = mistakes(text.replacing("\"format_version\": 1", with: "\"format_version\": 2"))
        let workload = mistakes("{\"name\": \"w\"}")
        let foreign = mistakes(text, for: .init(version: "2.0", commit: "abc"))
        for found in [newer, workload, foreign] { #expect(found.count == 1 && found[0].hasPrefix("plan.json")) }
        golden.expect((newer + workload + foreign).joined(separator: "\n"), "newer, a workload, another opbench's")
        #expect(mistakes("[]").count == 1 && mistakes("").count == 1 && mistakes("{").count >= 1)
        #expect(mistakes(text, for: .init(version: "1.0", commit: "abd")).count == 1)
        #expect(mistakes(text, for: .init(version: "1.0", commit: nil)).isEmpty, "what is not known is no difference")
        #expect(mistakes(text, for: nil).isEmpty)
    }

    @Test("A plan that is cut off anywhere is refused")
    func cut() throws {
        let text = Array(try plan().text.utf8)
        for length in stride(from: 0, to: text.count - 2, by: 37) {
            #expect(!mistakes(String(decoding: text[..<length], as: UTF8.self)).isEmpty)
        }
    }

    // MARK: Seals

    @Test("A seal finds every change of a file")
    func seal() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "seal-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        try write("one", "a.csv")
        try write("", "b.csv")
        let digest = SHA256.hexadecimal(of: [])
        let seal = try PartSeal(
            planSHA256: digest, shard: Shard("2/3")!, host: "n1", sealing: ["b.csv", "a.csv"], in: folder)
        try write(seal.text, PartSeal.fileName)
        let read = try PartSeal(in: folder, requiring: ["a.csv", "b.csv"])
        #expect(read == seal && read.shard == Shard("2/3") && read.host == "n1" && read.planSHA256 == digest)
        try read.check(in: folder)
        try write("two", "a.csv")
        try FileManager.default.removeItem(atPath: "\(folder)/b.csv")
        #expect { try read.check(in: folder) } throws: { error in
            (error as? InputErrors)?.errors.map(\.file) == ["\(folder)/a.csv", "\(folder)/b.csv"]
        }
        #expect(throws: InputErrors.self) { try PartSeal(in: folder, requiring: ["c.csv"]) }
        for (old, new) in [("a.csv", "../a.csv"), ("2/3", "4/3"), ("opbench-part", "part"), ("\"n1\"", "1")] {
            #expect(throws: InputErrors.self, "\(new)") {
                try PartSeal.decode(text: seal.text.replacing(old, with: new), file: "part.json")
            }
        }
    }
}
