/// The work of an item: a body by its name, with the values that differ from its defaults.
public struct BodyChoice: Codable, Sendable, Hashable {
    public let name: String
    /// The values that differ from the defaults.
    let fields: [String: Int]
    /// The bodies of a mix; empty in others.
    package let parts: [Part]

    /// One body of a mix.
    package struct Part: Codable, Sendable, Hashable {
        /// The share of items that have the body is this weight's share of all weights.
        package let weight: Int
        package let body: BodyChoice
    }

    package init(_ name: String, fields: [String: Int] = [:], parts: [Part] = []) {
        (self.name, self.fields, self.parts) = (name, fields, parts)
    }

    /// The default: calibrated CPU work.
    package static let cpu = BodyChoice("cpu")

    /// The most bodies of a mix, and the greatest weight.
    static let partLimit = 16
    static let weights = 1...1_000_000

    /// A value of the body, or its default. Traps if the body has no such value.
    package func integer(_ field: String) -> Int {
        if let value = fields[field] { return value }
        let definition = BodyDefinition.of(name)?.fields.first { $0.name == field }
        guard case .integer(let value) = definition?.defaultValue else {
            preconditionFailure("the body \(name) has no \(field)")
        }
        return value
    }

    /// The parts of a mix, or the body as the only part.
    private var all: [Part] { parts.isEmpty ? [Part(weight: 1, body: self)] : parts }

    /// A guess of an item's mean duration, in nanoseconds.
    ///
    /// - Parameter work: the cell's `work_ns`.
    package func guessedNanoseconds(work: Int) -> Double {
        mean { BodyDefinition.of($0.name)?.guess($0, Double(work)) ?? 0 }
    }

    /// Whether some items wait for something else than a processor.
    var waits: Bool { all.contains { BodyDefinition.of($0.body.name)?.waits ?? false } }

    /// The mean time that an item sleeps, in nanoseconds.
    var sleepNanoseconds: Double { mean { $0.name == "sleep" ? Double($0.integer("sleep_ns")) : 0 } }

    private func mean(_ value: (BodyChoice) -> Double) -> Double {
        let total = all.reduce(0) { $0 + Double($1.weight) }
        return all.reduce(0) { $0 + Double($1.weight) * value($1.body) } / total
    }
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
    var value: ParameterValue { fields.isEmpty && parts.isEmpty ? .text(name) : .body(self) }

    var json: JSONValue {
        if fields.isEmpty, parts.isEmpty { return .string(name) }
        if parts.isEmpty {
            return .object((name, .members(fields.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })))
        }
        return .object(
            (
                name,
                JSONValue(
                    .array(parts.map { .object(("weight", .integer($0.weight)), ("body", $0.body.json)) }))
            ))
    }
}

extension Cell {
    /// The work of an item. Cells of runs before there was a choice compute.
    package var body: BodyChoice {
        switch parameters["body"] {
        case .text(let name): BodyChoice(name)
        case .body(let body): body
        default: .cpu
        }
    }

    /// Why its items cannot have that body, and the remedy; nil if they can.
    var problemOfBody: (what: String, remedy: String)? {
        // The phases of a sequence are checked one by one.
        guard phases.isEmpty else { return nil }
        if let problem = body.problem { return problem }
        let seconds = Double(itemCount) * body.sleepNanoseconds / 1e9
        guard seconds > ShapeDefinition.secondsLimit else { return nil }
        return (
            "its bodies sleep for \(FigureText.write(seconds)) s in all",
            "items × sleep_ns is at most \(FigureText.write(ShapeDefinition.secondsLimit)) s"
        )
    }
}

extension BodyChoice {
    /// Why its values cannot be combined, and the remedy; nil if they can.
    fileprivate var problem: (what: String, remedy: String)? {
        switch name {
        case "memory" where integer("stride_bytes") > integer("footprint_bytes"):
            return ("the stride is longer than the footprint", "write a stride_bytes of at most footprint_bytes")
        case "allocate" where integer("count") * integer("size_bytes") > Self.allocationLimit:
            return ("the blocks are too large together", "count × size_bytes is at most \(Self.allocationLimit)")
        default: return parts.lazy.compactMap(\.body.problem).first
        }
    }

    /// The most memory of an item, in bytes.
    private static let allocationLimit = 1 << 30
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
