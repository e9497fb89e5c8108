@testable import OpBenchModel

extension FuzzReader {
    /// `opbench gate --policy` and `opbench validate` on a policy file.
    static let policy = FuzzReader(
        name: "policy", form: .json,
        words: {
            words(of: GatePolicy.schema()) + GatePolicy.judgedMetrics
                + ["schema/policy.schema.json", "*", "**", "ti*", "p99", "total", "mark:pending", "1e18", "1e-9"]
                + jsonWords
        },
        seeds: {
            [
                #"{"version": 1, "rules": [{"metric": "time", "max_regression": 0.02}]}"#,
                #"{"version": 1, "rules": [{"metric": "ti*", "at_most": 1e-6, "against": ["dispatch", "serial"]}]}"#,
                #"{"version": 1, "min_blocks": 7, "rules": [{"metric": "time", "at_most": 2, "against": {"cell": "w"}}]}"#,
            ].map { Array($0.utf8) }
        },
        read: { bytes in
            let file = "p.json"
            let text = try TextFile.text(of: bytes, file: file)
            let policy = try GatePolicy.decode(text: text, file: file)
            try promise(!policy.rules.isEmpty, "no rules")
            try promise(
                policy.rules.allSatisfy { ($0.figure.atMost != nil) == policy.isOfGoals }, "rules of both kinds")
            try promise(GatePolicy.isPolicy(text) || text.contains("shape"), "a policy is not taken for one")
            _ = GateNeeds(of: policy, workload: "w", shape: .openLoop)
            var row = CompareRow.blank
            (row.cellID, row.metric, row.stat, row.phase) = ("w items=10", "time", "total", "total")
            let bound = policy.rule(for: row)
            try promise((bound?.minAbsolute ?? 0).isFinite, "a bound that is no number")
            _ = policy.unusedRules(among: [row])
            let rewritten = JSONText.write(try JSONParser.parse(text, file: file).value)
            let same = try again("the policy") { try GatePolicy.decode(text: rewritten, file: file) }
            try promise(same == policy, "the policy was another when it was written")
        })

    /// The names and words in a schema.
    static func words(of schema: String) -> [String] {
        Set(schema.split(separator: "\"").map(String.init))
            .filter { $0.count < 40 && !$0.contains(where: \.isWhitespace) }.sorted()
    }
}
