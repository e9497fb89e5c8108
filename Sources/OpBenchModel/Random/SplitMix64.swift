/// A small generator (Steele, Lea, Flood 2014). Its whole state is one word, and the seed determines the sequence on
/// every platform: a recorded seed reproduces a plan, an order of blocks or an interval.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    @inlinable
    public init(seed: UInt64) { state = seed }

    @inlinable
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<1.
    @inlinable
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Fisher–Yates, written out because the standard library's shuffle may change.
    @inlinable
    public mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
        var result = elements
        guard result.count > 1 else { return result }
        for last in stride(from: result.count - 1, to: 0, by: -1) {
            result.swapAt(last, Int(next() % UInt64(last + 1)))
        }
        return result
    }

    /// A seed that depends only on the text (FNV-1a).
    public static func seed(from text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
