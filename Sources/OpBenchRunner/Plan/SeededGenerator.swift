/// SplitMix64: a small generator whose sequence is fixed by its seed on every platform, so that a plan or an order of
/// blocks can be had again from the seed written in `run.json`.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Fisher–Yates, written out so that the order does not depend on how the standard library shuffles.
    mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
        var result = elements
        guard result.count > 1 else { return result }
        for last in stride(from: result.count - 1, to: 0, by: -1) {
            result.swapAt(last, Int(next() % UInt64(last + 1)))
        }
        return result
    }
}
