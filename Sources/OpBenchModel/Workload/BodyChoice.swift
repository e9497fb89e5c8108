/// The work of an item: a body by its name, with the values that differ from its defaults.
public struct BodyChoice: Sendable, Hashable {
    public let name: String
    /// The values that differ from the defaults.
    let fields: [String: Int]
    /// The bodies of a mix; empty in others.
    package let parts: [Part]

    /// One body of a mix.
    package struct Part: Sendable, Hashable {
        /// The share of items that have the body is this weight's share of all weights.
        package var weight: Int
        package var body: BodyChoice
    }

    package init(_ name: String, fields: [String: Int] = [:], parts: [Part] = []) {
        (self.name, self.fields, self.parts) = (name, fields, parts)
    }

    /// The default: calibrated CPU work.
    package static let cpu = BodyChoice("cpu")

    /// The most bodies of a mix, and the greatest weight.
    static let partLimit = 16
    static let weights = 1...1_000_000
}

extension BodyChoice: CustomStringConvertible {
    /// The text in `cell_id` and after `--set`: `memory/footprint_bytes:4096/stride_bytes:8`; of a mix
    /// `mix/9:cpu/1:sleep/sleep_ns:5000`, where a number before the colon begins a part.
    public var description: String {
        let values = fields.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        return ([name] + values + parts.map { "\($0.weight):\($0.body)" }).joined(separator: "/")
    }
}

extension BodyChoice {
    /// The value of a parameter: a word, unless the body has values of its own.
    var value: ParameterValue { ParameterValue(self, text: description, json: json) }

    private var json: JSONValue {
        if fields.isEmpty, parts.isEmpty { return .string(name) }
        if parts.isEmpty {
            return .object((name, .members(fields.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })))
        }
        return Self.mix(parts.map { ($0.weight, $0.body.json) })
    }

    /// A mix as in a file.
    static func mix(_ parts: [(weight: Int, body: JSONValue)]) -> JSONValue {
        let parts = parts.map { JSONValue.object(("weight", .integer($0.weight)), ("body", $0.body)) }
        return .object((BodyDefinition.mix, JSONValue(.array(parts))))
    }
}

/// The body of a plan's items, if the workload chooses another than calibrated CPU work.
package struct PlannedBody: Sendable, Equatable {
    package let choice: BodyChoice
    /// The work of a mix's `cpu`, in nanoseconds.
    package let workNanoseconds: Int
    /// Seeds the draws of a mix.
    package let seed: Int

    /// A guess of an item's duration, in nanoseconds.
    package var guessedNanoseconds: Double { choice.guessedNanoseconds(work: workNanoseconds) }
}

extension PlannedBody {
    /// Nil for calibrated CPU work.
    init?(_ cell: Cell) {
        guard cell.body != .cpu else { return nil }
        self.init(choice: cell.body, workNanoseconds: cell.integer("work_ns"), seed: cell.integer("seed"))
    }
}
