/// Which numbers the workers of a pool have: the smallest ones, from 1 on. Guarded by the pool's lock.
struct WorkerNumbers {
    /// A bit for each number, set while a worker has it.
    private var taken: [8 of UInt64] = .init(repeating: 0)

    /// The smallest number that no worker has. There are as many as threads of the engine.
    mutating func take() -> Int {
        for index in taken.indices where taken[index] != .max {
            let bit = (~taken[index]).trailingZeroBitCount
            taken[index] |= 1 << UInt64(bit)
            return index * UInt64.bitWidth + bit + 1
        }
        preconditionFailure("more workers than threads")
    }

    mutating func giveBack(_ number: Int) {
        let place = number - 1
        taken[place / UInt64.bitWidth] &= ~(1 << UInt64(place % UInt64.bitWidth))
    }
}
