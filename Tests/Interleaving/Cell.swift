/// The explorer's record of one atomic word or lock: its value, and the threads that used it.
///
/// Cells are never freed: a child process that runs one schedule ends soon, and an access to the word of an object that
/// is gone is found instead of happening somewhere. Belongs to the running thread.
struct Cell {
    /// The same in every schedule for what is made in the same order by the same thread.
    let key: Int
    var isGone = false
    /// The first thread that used it since exploration began; −1 nobody.
    private var firstUser = -1
    private var isShared = false
    private var isWritten = false

    static let keyCount = 1 << 16
    private static let perThread = 1 << 11

    init(creator: Int, ordinal: Int) {
        key = (creator * Self.perThread + ordinal % Self.perThread) % Self.keyCount
    }

    /// Whether several threads use it, of which one writes: only there does it matter who comes first.
    var isContended: Bool { isShared && isWritten }

    mutating func noteUse(by thread: Int, isWrite: Bool) {
        if firstUser < 0 { firstUser = thread } else if firstUser != thread { isShared = true }
        if isWrite { isWritten = true }
    }

    /// The offset of the value from the cell.
    static let valueOffset = 64

    typealias Pointer = UnsafeMutablePointer<Cell>

    static func make<Value>(_ value: Value) -> Pointer {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: valueOffset + 16, alignment: 16)
        let cell = memory.bindMemory(to: Cell.self, capacity: 1)
        let (creator, ordinal) = Scheduler.shared.nextCellNumber()
        cell.initialize(to: Cell(creator: creator, ordinal: ordinal))
        (memory + valueOffset).initializeMemory(as: Value.self, to: value)
        return cell
    }
}

extension UnsafeMutablePointer<Cell> {
    func value<Value>(as type: Value.Type = Value.self) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(self) + Cell.valueOffset).assumingMemoryBound(to: type)
    }
}
