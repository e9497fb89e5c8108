import Synchronization

/// `Synchronization.Atomic` as the explored program sees it: the same methods, each of them a point at which another
/// thread may go on. Orderings are ignored: what is explored is sequentially consistent.
public struct ExploredAtomic<Value: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
    /// The address of the cell. An atomic, so that this type has an address of its own too, which the futex calls and
    /// `DependencyEdge.state(of:)` rely on.
    private let address: Atomic<UInt>

    public init(_ value: Value) {
        address = Atomic(UInt(bitPattern: Cell.make(value)))
    }

    deinit { cell.pointee.isGone = true }

    var cell: UnsafeMutablePointer<Cell> { UnsafeMutablePointer(bitPattern: address.load(ordering: .relaxed))! }

    /// The cell of the atomic at this address.
    static func cell(at place: UnsafeRawPointer) -> UnsafeMutablePointer<Cell> {
        UnsafeMutablePointer(bitPattern: place.load(as: UInt.self))!
    }

    private func access(_ what: StaticString, isWrite: Bool, _ place: Place) -> UnsafeMutablePointer<Value> {
        let cell = cell
        Scheduler.shared.point(cell, what, isWrite: isWrite, at: place)
        // The owner may have gone while other threads ran.
        if cell.pointee.isGone { Scheduler.shared.fail("\(what) of a word whose owner is gone, at \(place)") }
        return cell.value()
    }

    public func load(
        ordering: AtomicLoadOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> Value {
        access("load", isWrite: false, Place(file: file, line: line)).pointee
    }

    public func store(
        _ value: Value, ordering: AtomicStoreOrdering, file: StaticString = #fileID, line: UInt = #line
    ) {
        access("store", isWrite: true, Place(file: file, line: line)).pointee = value
    }

    public func exchange(
        _ value: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> Value {
        let place = access("exchange", isWrite: true, Place(file: file, line: line))
        defer { place.pointee = value }
        return place.pointee
    }

    public func compareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
        line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        let place = access("compare-exchange", isWrite: true, Place(file: file, line: line))
        let original = place.pointee
        let isEqual = withUnsafeBytes(of: original) { old in withUnsafeBytes(of: expected) { old.elementsEqual($0) } }
        if isEqual { place.pointee = desired }
        return (isEqual, original)
    }

    public func compareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
        file: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        compareExchange(expected: expected, desired: desired, ordering: successOrdering, file: file, line: line)
    }

    public func weakCompareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
        file: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        compareExchange(expected: expected, desired: desired, ordering: successOrdering, file: file, line: line)
    }

    public func weakCompareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
        line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        compareExchange(expected: expected, desired: desired, ordering: ordering, file: file, line: line)
    }
}

extension ExploredAtomic where Value: FixedWidthInteger {
    @discardableResult
    public func add(
        _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        change("add", file, line) { $0 &+ operand }
    }

    @discardableResult
    public func subtract(
        _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        change("subtract", file, line) { $0 &- operand }
    }

    @discardableResult
    public func wrappingAdd(
        _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        change("add", file, line) { $0 &+ operand }
    }

    @discardableResult
    public func wrappingSubtract(
        _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        change("subtract", file, line) { $0 &- operand }
    }

    @discardableResult
    public func bitwiseOr(
        _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        change("or", file, line) { $0 | operand }
    }

    @discardableResult
    public func bitwiseAnd(
        _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        change("and", file, line) { $0 & operand }
    }

    private func change(
        _ what: StaticString, _ file: StaticString, _ line: UInt, _ body: (Value) -> Value
    ) -> (oldValue: Value, newValue: Value) {
        let place = access(what, isWrite: true, Place(file: file, line: line))
        let old = place.pointee
        place.pointee = body(old)
        return (old, place.pointee)
    }
}
