extension JSONSchema {
    /// The schema of policy files as text, ending in a line feed: the content of `workloads/schema/policy.schema.json`.
    public static func policy() -> String { JSONText.write(policyRoot) }

    private static var policyRoot: JSONValue {
        .object(
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("title", "An opbench gate policy"),
            (
                "description",
                .string(
                    "Which figures may get worse, by how much, and with what certainty that is reported; or how "
                        + "great they may be. " + commentRule)
            ),
            ("type", "object"), ("required", .strings(["version", "rules"])), noOtherMembers, comments,
            (
                "properties",
                .object(
                    ("$schema", described("The path of this schema, for editors.", [("type", "string")])),
                    (
                        "version",
                        described("The version of this format.", [("const", .integer(PolicyDecoder.version))])
                    ),
                    ("alpha", alpha), ("min_blocks", minBlocks),
                    (
                        "rules",
                        described(
                            "The first rule with max_regression that matches a figure judges it; figures that none "
                                + "matches are not judged. Each rule with at_most judges every figure that it matches. A "
                                + "policy has rules of one of these kinds.",
                            [
                                ("type", "array"), ("minItems", .integer(1)),
                                ("maxItems", .integer(PolicyDecoder.ruleLimit)),
                                ("anyOf", JSONValue(.array([itemsOf(rule), itemsOf(goal)]))),
                            ])
                    ))
            ))
    }

    private static func itemsOf(_ schema: JSONValue) -> JSONValue { .object(("items", schema)) }

    /// The schema of a rule for two sides.
    private static var rule: JSONValue {
        policyRule(
            bound: "max_regression",
            [
                (
                    "max_regression",
                    described(
                        "The greatest relative worsening that passes: 0.05 is 5 %.",
                        range(PolicyDecoder.maxRegressionRange))
                ),
                (
                    "min_absolute",
                    described(
                        "A worsening below this, in the metric's unit per operation or round (nanoseconds for "
                            + "times), is no regression. The counts of a round may always differ by \(slacks).",
                        range(PolicyDecoder.minAbsoluteRange))
                ),
                (
                    "against",
                    described(
                        "A baseline to compare with in place of the other side, which bounds the figure's drift since "
                            + "then. Ratios to Dispatch and counts can be judged; other figures of runs at different "
                            + "times stay inconclusive.",
                        [
                            ("type", "object"), ("required", .strings(["baseline"])), noOtherMembers, comments,
                            ("properties", .object(("baseline", baselineName))),
                        ])
                ),
                ("alpha", alpha), ("min_blocks", minBlocks),
            ])
    }

    /// The schema of a goal for the figures of one run.
    private static var goal: JSONValue {
        policyRule(
            bound: "at_most",
            [
                (
                    "at_most",
                    described(
                        "The greatest ratio to the figure of `against` that meets the goal; without `against`, the "
                            + "greatest figure, in the metric's unit per operation or round (nanoseconds for times).",
                        range(PolicyDecoder.atMostRange))
                ),
                (
                    "against",
                    described(
                        "The denominator of the ratio, within the run: a backend, the fastest of several on the same "
                            + "cell, or the same backend on another cell.",
                        [("oneOf", JSONValue(.array([backend, backends, otherCell])))])
                ),
                ("min_blocks", minBlocks),
            ])
    }

    private static var slacks: String {
        Metric.catalogue.compactMap { metric -> String? in
            switch metric.slack {
            case .absolute(let count): "\(FigureText.write(count)) (\(metric.name))"
            case .relative(let part): "\(FigureText.write(part * 100)) % (\(metric.name))"
            case nil: nil
            }
        }.joined(separator: ", ")
    }

    private static var backend: JSONValue { .object(("enum", .strings(BackendID.known.map(\.rawValue)))) }

    private static var backends: JSONValue {
        .object(
            ("type", "array"), ("minItems", .integer(1)), ("maxItems", .integer(PolicyDecoder.referenceLimit)),
            ("uniqueItems", true), ("items", backend))
    }

    private static var baselineName: JSONValue {
        described(
            "The baseline's name, of `opbench baseline save --name`.",
            [
                ("type", "string"), ("pattern", .string(RunName.pattern)),
                ("maxLength", .integer(RunName.lengthLimit)), ("not", noControlCharacters),
            ])
    }

    private static var otherCell: JSONValue {
        let cell = described(
            "The cell_id of the other cell, as in samples.csv.",
            [("type", "string"), ("minLength", .integer(1)), ("maxLength", .integer(PolicyDecoder.patternLimit))])
        return .object(
            ("type", "object"), ("required", .strings(["cell"])), noOtherMembers, comments,
            ("properties", .object(("cell", cell))))
    }

    private static func policyRule(bound: String, _ bounds: [(String, JSONValue)]) -> JSONValue {
        func selector(_ what: String) -> JSONValue {
            described(
                "\(what), in which * matches any text.",
                [("type", "string"), ("maxLength", .integer(PolicyDecoder.patternLimit))])
        }
        let selectors: [(String, JSONValue)] = [
            ("workload", selector("A workload's name")), ("cell", selector("A cell_id")),
            (
                "backend",
                selector(
                    "A backend, or `own` for the engine and the backends that a program declares; or a name")
            ),
            (
                "metric",
                selector("A metric of samples.csv, or one of \(BaselineRatio.names.joined(separator: ", "))")
            ),
            ("stat", selector("A stat")), ("phase", selector("A phase")), ("class", selector("A class")),
        ]
        return .object(
            ("type", "object"), ("required", .strings(["metric", bound])), noOtherMembers, comments,
            ("properties", .members(selectors + bounds)))
    }

    private static var alpha: JSONValue {
        described(
            "The accepted probability of a false alarm, over all figures together, and of passing a figure that is "
                + "worse by exactly the margin.",
            range(PolicyDecoder.alphaRange))
    }

    private static var minBlocks: JSONValue {
        let range = PolicyDecoder.minBlocksRange
        return described(
            "The number of blocks that a regression, or a missed goal, needs at least.",
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
