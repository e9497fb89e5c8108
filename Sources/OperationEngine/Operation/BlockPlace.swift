/// A struct around a closure. A bare closure costs an allocation whenever it passes through a generic function.
struct Block {
    let run: @Sendable () -> Void
}

/// Memory for one block. A property of the block's own type would be retained for each call, and the object around it
/// for its deinit: four atomic steps an operation.
struct BlockPlace {
    /// A closure's two words. Not a tuple: the runtime may look up a tuple's type under a lock, which a forked child
    /// may find held for good.
    private struct Words {
        /// Never 0 if there is a closure.
        var function: UInt = 0
        var context: UInt = 0
    }

    private var words = Words()

    init() {}

    @inline(__always)
    init(_ closure: @escaping @Sendable () -> Void) { put(Block(run: closure)) }

    var isEmpty: Bool { words.function == 0 }

    mutating func put(_ block: Block) {
        withMemory(as: Block.self) { $0.initialize(to: block) }
    }

    mutating func take() -> Block? {
        if isEmpty { return nil }
        defer { words.function = 0 }
        return withMemory(as: Block.self) { $0.move() }
    }

    var copy: Block? {
        var words = self
        return isEmpty ? nil : words.withMemory(as: Block.self) { $0.pointee }
    }

    /// The result of `borrow`. It is not copyable, and so not retained.
    struct Borrowed: ~Copyable {
        let run: @Sendable () -> Void

        /// Ends the loan without releasing anything. The block is still in its place.
        consuming func forget() {
            // A closure cannot consume a captured value, but it can take the content of a captured optional.
            var content = Optional(self)
            withUnsafeTemporaryAllocation(of: Borrowed.self, capacity: 1) {
                $0.initializeElement(at: 0, to: content.take()!)
            }
        }
    }

    /// Lends the block to a caller that calls it in place. Its memory does not change, and other threads may copy from
    /// it.
    func borrow() -> Borrowed {
        var words = self
        return words.withMemory(as: Borrowed.self) { $0.move() }
    }

    private mutating func withMemory<Content: ~Copyable, Result: ~Copyable>(
        as type: Content.Type, _ body: (UnsafeMutablePointer<Content>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &words) { $0.withMemoryRebound(to: type, capacity: 1, body) }
    }
}
