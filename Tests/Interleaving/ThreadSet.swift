/// A set of threads by number, in one word.
struct ThreadSet: Equatable, Sequence {
    private(set) var bits: UInt32 = 0

    init() {}
    init(bits: UInt32) { self.bits = bits }

    var isEmpty: Bool { bits == 0 }
    var count: Int { bits.nonzeroBitCount }
    func contains(_ id: Int) -> Bool { bits & 1 << UInt32(id) != 0 }
    mutating func insert(_ id: Int) { bits |= 1 << UInt32(id) }
    func removing(_ id: Int) -> ThreadSet { ThreadSet(bits: bits & ~(1 << UInt32(id))) }

    /// The first after `id`, or the first of all.
    func next(after id: Int) -> Int {
        let later = bits & ~((2 << UInt32(id)) &- 1)
        return (later == 0 ? bits : later).trailingZeroBitCount
    }

    func element(at index: Int) -> Int {
        var rest = bits
        for _ in 0..<index { rest &= rest - 1 }
        return rest.trailingZeroBitCount
    }

    func makeIterator() -> Iterator { Iterator(rest: bits) }

    struct Iterator: IteratorProtocol {
        fileprivate var rest: UInt32

        mutating func next() -> Int? {
            guard rest != 0 else { return nil }
            defer { rest &= rest - 1 }
            return rest.trailingZeroBitCount
        }
    }
}
