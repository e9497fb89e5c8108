import OpBenchModel

/// One of several bodies for each item, drawn by the item's number and the cell's seed: the same for all backends, in
/// whatever order items run.
final class MixedBody: ChosenBody, @unchecked Sendable {
    /// Borrowed by each item without reference counting, which would be writes to shared lines.
    private let bodies: UnsafeMutableBufferPointer<ChosenBody>
    /// The sums of the weights up to each body.
    private let sums: UnsafeMutableBufferPointer<UInt64>
    private let total: UInt64
    private let seed: UInt64

    init(_ parts: [BodyChoice.Part], _ plan: PlannedBody, _ kernel: WorkKernel) throws(BodyError) {
        var made: [ChosenBody] = []
        do throws(BodyError) {
            for part in parts { made.append(try ChosenBody.make(part.body, plan, kernel)) }
        } catch {
            for body in made { body.release() }
            throw error
        }
        bodies = .allocate(capacity: parts.count)
        _ = bodies.initialize(from: made)
        sums = .allocate(capacity: parts.count)
        var sum: UInt64 = 0
        for (index, part) in parts.enumerated() {
            sum += UInt64(part.weight)
            sums[index] = sum
        }
        (total, seed) = (sum, UInt64(bitPattern: Int64(plan.seed)))
    }

    /// The place of an item's body among the parts.
    func part(of item: Int) -> Int {
        var generator = SplitMix64(seed: seed &+ UInt64(bitPattern: Int64(item)) &* Self.spread)
        let drawn = generator.next() % total
        var part = 0
        while drawn >= sums[part] { part += 1 }
        return part
    }

    /// Keeps the draws of successive items and seeds apart.
    private static let spread: UInt64 = 0xD1B5_4A32_D192_ED03

    private func body(of item: Int) -> Unretained<ChosenBody> { Unretained(bodies[part(of: item)]) }

    override func run(_ item: Int) { body(of: item).callAsFunction { $0.run(item) } }

    override func release() {
        for body in bodies { body.release() }
        bodies.deinitialize()
        bodies.deallocate()
        sums.deallocate()
    }
}

/// A body that the program declares.
final class DeclaredBody: ChosenBody, @unchecked Sendable {
    private let work: @Sendable (Int) -> Void

    init(_ name: String) throws(BodyError) {
        guard let declared = DeclaredBodies.all.first(where: { $0.name == name }) else {
            throw BodyError(reason: "this program declares no such body")
        }
        work = declared.run
    }

    override func run(_ item: Int) { work(item) }
}
