/// Whether an operation's class overrides one of `Operation`'s methods.
///
/// Several rules depend on it. A cancelled operation may finish without a slot only if its `start` is the engine's own
/// (contract J9). An overridden `start` runs at the normal thread priority (H4). An overridden `isReady` is asked
/// before every start (F5), and also in no queue (F8), at no cost for other classes. An overridden `isFinished` is
/// asked whether the operation has ended with its `main` (C14). An overridden `cancel` is called (J16), and so is an
/// overridden `addDependency`.
///
/// Swift has no call for this question, so the engine compares the classes' method tables. On Linux, and without
/// library evolution, a subclass's metadata begins with its superclass's entries at the same offsets
/// (docs/ABI/TypeMetadata.rst of the Swift project). The offset of a method is not assumed but found: it is the one
/// entry in which a probe class that overrides the method differs from two classes that override nothing. If that does
/// not give exactly one entry, every class counts as overriding. That is slower but never wrong about when an operation
/// starts or ends; J9 and thread priorities are not applied then.
struct MethodOverride {
    @inline(__always) static var start: MethodOverride { table.start }
    @inline(__always) static var isReady: MethodOverride { table.isReady }
    @inline(__always) static var isExecuting: MethodOverride { table.isExecuting }
    @inline(__always) static var isFinished: MethodOverride { table.isFinished }
    @inline(__always) static var cancel: MethodOverride { table.cancel }
    @inline(__always) static var addDependency: MethodOverride { table.addDependency }

    /// The overrides of all methods, so that threads initialize one global, and check for it once if they ask for
    /// several.
    private struct Table {
        let start = MethodOverride(probe: OverridesStart.self)
        let isReady = MethodOverride(probe: OverridesIsReady.self)
        let isExecuting = MethodOverride(probe: OverridesIsExecuting.self)
        let isFinished = MethodOverride(probe: OverridesIsFinished.self)
        let cancel = MethodOverride(probe: OverridesCancel.self)
        let addDependency = MethodOverride(probe: OverridesAddDependency.self)
    }
    private static let table = Table()

    /// Finds the methods. To be called before the engine's first thread.
    static func prepare() { _ = table }

    /// The offset in words.
    private let slot: Int
    /// The entry of `Operation` itself.
    private let entry: UInt
    /// If the method was not found: no class has this entry at this offset, where its kind is, a small number.
    private static let everyClassOverrides: (Int, UInt) = (0, .max)

    @inline(__always)
    func isPresent(in operation: Operation) -> Bool { difference(in: Self.entries(of: type(of: operation))) != 0 }

    @inline(__always)
    private func difference(in entries: UnsafePointer<UInt>) -> UInt { entries[slot] ^ entry }

    /// Whether the class overrides `start`, `isReady` or `isFinished`. With one branch, because every operation that is
    /// added is asked.
    @inline(__always)
    static func isPresentInCourse(of operation: Operation) -> Bool {
        let (table, entries) = (table, entries(of: type(of: operation)))
        return table.start.difference(in: entries) | table.isReady.difference(in: entries)
            | table.isFinished.difference(in: entries) != 0
    }

    /// Words before the first member: kind, superclass, flags, sizes (two words), description, ivar destroyer.
    private static let headerWords = 7
    /// The word whose lower half is the metadata's size. Its upper half is the part of that size before the address
    /// point.
    private static let sizeWord = 4

    private init(probe: Operation.Type) {
        let own = Self.entries(of: Operation.self)
        let words = (Int(own[Self.sizeWord] & 0xFFFF_FFFF) - Int(own[Self.sizeWord] >> 32)) / MemoryLayout<UInt>.size
        guard words > Self.headerWords, words < 1000 else {
            (slot, entry) = Self.everyClassOverrides
            return
        }
        let (plain, otherPlain) = (Self.entries(of: Plain.self), Self.entries(of: OtherPlain.self))
        let overriding = Self.entries(of: probe)
        let candidates = (Self.headerWords..<words).filter {
            overriding[$0] != own[$0] && plain[$0] == own[$0] && otherPlain[$0] == own[$0]
        }
        (slot, entry) = candidates.count == 1 ? (candidates[0], own[candidates[0]]) : Self.everyClassOverrides
    }

    private static func entries(of type: Operation.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(type as AnyClass, to: UnsafePointer<UInt>.self)
    }

    private final class Plain: Operation, @unchecked Sendable {}
    private final class OtherPlain: Operation, @unchecked Sendable {}
    private final class OverridesStart: Operation, @unchecked Sendable {
        override func start() { super.start() }
    }
    private final class OverridesIsReady: Operation, @unchecked Sendable {
        override var isReady: Bool { super.isReady }
    }
    private final class OverridesIsExecuting: Operation, @unchecked Sendable {
        override var isExecuting: Bool { super.isExecuting }
    }
    private final class OverridesCancel: Operation, @unchecked Sendable {
        override func cancel() { super.cancel() }
    }
    private final class OverridesAddDependency: Operation, @unchecked Sendable {
        override func addDependency(_ operation: Operation) { super.addDependency(operation) }
    }
    private final class OverridesIsFinished: Operation, @unchecked Sendable {
        override var isFinished: Bool { super.isFinished }
    }
}
