extension JSONSchema {
    /// The schema of policy files as text, ending in a line feed: what `workloads/schema/policy.schema.json` holds.
    public static func policy() -> String { JSONText.write(policyRoot) }

    private static var policyRoot: JSONValue {
        .object(
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("title", "An opbench gate policy"),
            ("description", "Which figures may get worse, by how much, and how certain a \"worse\" must be."),
            ("type", "object"), ("required", .strings(["version", "rules"])), ("additionalProperties", false),
            (
                "properties",
                .object(
                    ("$schema", described("The path of this schema, for editors.", [("type", "string")])),
                    ("version", described("The version of this format.", [("const", .integer(PolicyDecoder.version))])),
                    ("alpha", alpha), ("min_blocks", minBlocks),
                    (
                        "rules",
                        described(
                            "The first rule that matches a figure judges it; figures that none matches are not judged.",
                            [
                                ("type", "array"), ("minItems", .integer(1)),
                                ("maxItems", .integer(PolicyDecoder.ruleLimit)), ("items", policyRule),
                            ])
                    ))
            ))
    }

    private static var policyRule: JSONValue {
        func selector(_ what: String) -> JSONValue {
            described(
                "\(what), in which * stands for any text.",
                [("type", "string"), ("maxLength", .integer(PolicyDecoder.patternLimit))])
        }
        return .object(
            ("type", "object"), ("required", .strings(["metric", "max_regression"])), ("additionalProperties", false),
            (
                "properties",
                .object(
                    ("workload", selector("A workload's name")), ("backend", selector("A backend")),
                    ("metric", selector("A metric of samples.csv, or time_ratio")), ("stat", selector("A stat")),
                    ("phase", selector("A phase")), ("class", selector("A class")),
                    (
                        "max_regression",
                        described(
                            "The greatest relative worsening that passes: 0.05 is 5 %.",
                            range(PolicyDecoder.maxRegressionRange))
                    ),
                    (
                        "min_absolute",
                        described(
                            "A worsening below this, in the metric's unit per operation or round, is none.",
                            range(PolicyDecoder.minAbsoluteRange))
                    ),
                    ("alpha", alpha), ("min_blocks", minBlocks))
            ))
    }

    private static var alpha: JSONValue {
        described(
            "The chance of a false alarm that is accepted, over all figures together.", range(PolicyDecoder.alphaRange))
    }

    private static var minBlocks: JSONValue {
        let range = PolicyDecoder.minBlocksRange
        return described(
            "A regression takes at least this many blocks.",
            [("type", "integer"), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound))])
    }

    private static func described(_ description: String, _ rest: [(String, JSONValue)]) -> JSONValue {
        .members([("description", .string(description))] + rest)
    }

    private static func range(_ range: ClosedRange<Double>) -> [(String, JSONValue)] {
        let bound = { JSONValue(.number(JSONNumber(text: FigureText.write($0)))) }
        return [("type", "number"), ("minimum", bound(range.lowerBound)), ("maximum", bound(range.upperBound))]
    }
}
