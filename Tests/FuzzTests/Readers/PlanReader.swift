@testable import OpBenchModel

extension FuzzReader {
    /// The file of `opbench plan`. It names itself by a digest, which no change at random hits: the digests of an input are set
    /// right before it is read, in all but one of eight.
    static let plan = FuzzReader(
        name: "plan", form: .json, lengthLimit: 8192,
        words: {
            [
                "format", "opbench-plan", "format_version", "plan_sha256", "opbench", "version", "commit", "seed",
                "quick",
                "timeout_ns", "builds", "base", "head", "path", "sha256", "workloads", "file", "name", "text",
                "parameters",
                "backends", "sample_kinds", "cells", "cell_id", "workload", "workload_sha256", "sides", "blocks",
                "throughput", "latency", "samples", "estimated_ns", "items", "w items=2", "other:form",
                "10000000000000000", "18446744073709551615",
            ] + jsonWords
        },
        seeds: { [Array(planned.text.utf8)] },
        read: { bytes in
            let file = "plan.json"
            var text = try TextFile.text(of: bytes, file: file)
            if bytes.count % 8 != 0, let repaired = repaired(text) { text = repaired }
            let plan = try PlanFile.decode(text: text, file: file, for: nil)
            let same = try again("the plan") { try PlanFile.decode(text: plan.text, file: file, for: nil) }
            try promise(same.text.utf8.elementsEqual(plan.text.utf8), "the plan was another when it was written")
            try promise(same.firstDifference(from: plan) == nil, "a cell was another when it was written")
            for count in [1, 3, 10] {
                let shards = plan.balance(count: count).shards.flatMap(\.cellIDs)
                try promise(shards.sorted() == plan.cells.map(\.id).sorted(), "cells are lost among \(count) shards")
            }
            _ = (plan.samples, plan.estimatedSeconds)
            // Of this very program, which knows all backends.
            _ = try PlanFile.decode(text: text, file: file, for: plan.program)
        })

    /// A good one, of two cells.
    static let planned: PlanFile = {
        let text = """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": [1, 2]},
             "backends": ["engine", "serial"]}
            """
        let spec = try! WorkloadSpec.decode(text: text, file: "w.json")
        return PlanFile(
            program: PlanFile.Program(version: "1.0", commit: "abc"), seed: 1, isQuick: false,
            timeoutNanoseconds: 30_000_000_000, specs: [spec],
            cells: spec.cells().map { cell in
                .init(
                    id: cell.id, workload: "w", workloadSHA256: spec.sha256, parameters: cell.parameters,
                    backends: spec.backends, blocks: [.throughput: 7, .check: 1], samples: 16,
                    estimatedNanoseconds: 1000)
            })
    }()

    /// The plan with digests that are those of what it holds; nil where it is no object.
    private static func repaired(_ text: String) -> String? {
        guard case .object(let members)? = (try? JSONParser.parse(text, file: ""))?.value.content else { return nil }
        var digests: [String: String] = [:]
        var others = members.filter { $0.name != "plan_sha256" }.map { ($0.name, $0.value) }
        for (index, member) in others.enumerated() where member.0 == "workloads" {
            others[index].1 = ofEach(member.1) { workload in
                guard case .string(let text)? = workload["text"]?.content else { return }
                let digest = SHA256.hexadecimal(of: Array(text.utf8))
                workload["sha256"] = .string(digest)
                if case .string(let name)? = workload["name"]?.content { digests[name] = digest }
            }
        }
        for (index, member) in others.enumerated() where member.0 == "cells" {
            others[index].1 = ofEach(member.1) { cell in
                guard case .string(let name)? = cell["workload"]?.content, let digest = digests[name] else { return }
                cell["workload_sha256"] = .string(digest)
            }
        }
        let digest = JSONValue.members(others).canonicalSHA256
        return JSONText.write(.members(others + [("plan_sha256", .string(digest))]))
    }

    private static func ofEach(_ list: JSONValue, _ change: (inout [String: JSONValue]) -> Void) -> JSONValue {
        guard case .array(let elements) = list.content else { return list }
        return JSONValue(
            .array(
                elements.map { element in
                    guard case .object(let members) = element.content else { return element }
                    var values = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
                    change(&values)
                    return .members(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
                }))
    }
}
