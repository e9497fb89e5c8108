/// Processors by the kernel's numbers, in ascending order. Written as the kernel and taskset(1) write lists: `0-3,8`.
public struct ProcessorSet: Sendable, Hashable {
    public let numbers: [Int]

    /// The largest number of any kernel (CONFIG_NR_CPUS).
    public static let limit = 8192

    public init(_ numbers: some Sequence<Int>) { self.numbers = Set(numbers).sorted() }

    /// Reads a list: numbers and ranges, `a-b` or with a stride `a-b:s`, separated by commas.
    ///
    /// - Returns: nil for an invalid list, and for numbers from `limit` on.
    public init?(_ text: String) {
        var numbers: Set<Int> = []
        if text.isEmpty { return nil }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(part) else { return nil }
            numbers.formUnion(range)
        }
        self.init(numbers)
    }

    private static func range(_ text: Substring) -> StrideThrough<Int>? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(number)
        let step = parts.count == 2 ? number(parts[1]) : 1
        guard let first = ends[0], let last = ends[ends.count - 1], let step, step > 0, first <= last,
            ends.count == 2 || parts.count == 1
        else { return nil }
        return stride(from: first, through: last, by: step)
    }

    /// Digits alone: `Int` would accept a sign.
    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text)
        else { return nil }
        return number < limit ? number : nil
    }

    public var count: Int { numbers.count }
    public var isEmpty: Bool { numbers.isEmpty }
    public var first: Int? { numbers.first }

    public func intersection(_ other: ProcessorSet) -> ProcessorSet {
        ProcessorSet(Set(numbers).intersection(other.numbers))
    }

    public func subtracting(_ other: ProcessorSet) -> ProcessorSet {
        ProcessorSet(Set(numbers).subtracting(other.numbers))
    }

    public func union(_ other: ProcessorSet) -> ProcessorSet { ProcessorSet(numbers + other.numbers) }
}

extension ProcessorSet: CustomStringConvertible {
    /// The shortest list without strides: `0-3,8`; empty for none.
    public var description: String {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound == number - 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }
}

extension ProcessorSet: Codable, RawRepresentable {
    public init?(rawValue: String) { self.init(rawValue) }
    public var rawValue: String { description }
}
