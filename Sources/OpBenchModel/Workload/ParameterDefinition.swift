/// One parameter of a shape, declared once for the decoder, the schema, the cell ids and the help.
public struct ParameterDefinition: Sendable {
    public enum Kind: Sendable {
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case choice([String])
        /// A whole number or one word, as in `max_concurrent`.
        case integerOr(keyword: String, ClosedRange<Int>)
        case weights(keys: WeightKeys)
        /// The phases of a sequence.
        case phases
        /// The columns of a replay.
        case recording
        /// The work of an item: see `BodyDefinition`.
        case body
    }

    /// The keys that may have a weight.
    public enum WeightKeys: Sendable {
        case fixed([String])
        /// Decimal numbers from 0 to 1, as strings of at most six decimals.
        case number(ClosedRange<Double>)
    }

    public let name: String
    public let kind: Kind
    public let defaultValue: ParameterValue
    /// One line for people.
    public let summary: String
    /// `ns`, `B`, `count`, or empty if the value has none.
    public let unit: String
    /// Whether a file may give several values. The seed takes one: it is not part of a `cell_id`, so cells that differ
    /// only in the seed could not be distinguished.
    public let takesList: Bool

    public init(
        name: String, kind: Kind, defaultValue: ParameterValue, summary: String, unit: String = "",
        takesList: Bool = true
    ) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.summary = summary
        self.unit = unit
        self.takesList = takesList
    }

    /// The greatest weight, and the most weights of one mix: every key is a class with figures of its own.
    public static let weightLimit = 1_000_000.0
    static let weightCountLimit = 100

    /// The allowed values, for messages and help: `a whole number from 1 to 512`.
    public var allowed: String {
        switch kind {
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range):
            "a number from \(FigureText.write(range.lowerBound)) to \(FigureText.write(range.upperBound))"
        case .choice(let choices): "one of " + choices.map { "\"\($0)\"" }.joined(separator: ", ")
        case .integerOr(let keyword, let range):
            "\"\(keyword)\" or a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .weights(let keys): "an object of weights by \(keys.allowed)"
        case .phases: "a list of phases, objects with name, shape and parameters"
        case .recording: RecordedLoad.allowed
        case .body: BodyChoice.allowed
        }
    }
}

extension ParameterDefinition.WeightKeys {
    var allowed: String {
        switch self {
        case .fixed(let keys): keys.joined(separator: ", ")
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound) as a string"
        }
    }

    /// The canonical spelling of a key, or nil if it is invalid: `"0.50"` and `".5"` become `0.5` and nil.
    func canonical(_ key: String) -> String? {
        switch self {
        case .fixed(let keys): return keys.contains(key) ? key : nil
        case .number(let range):
            guard isDecimal(key), let number = Double(key), range.contains(number) else { return nil }
            return number.description
        }
    }

    /// `0` or `1`, optionally with one to six decimals, as in the schema's pattern.
    private func isDecimal(_ key: String) -> Bool {
        let parts = key.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let whole = parts.first, parts.count <= 2, whole.elementsEqual("0".utf8) || whole.elementsEqual("1".utf8)
        else { return false }
        guard parts.count == 2 else { return true }
        return (1...6).contains(parts[1].count) && parts[1].allSatisfy { (48...57).contains($0) }
    }
}
