/// The task of each operation, for those who wait for one or cancel it.
///
/// Not locked: whoever reads a handle must have been told of it by the thread that wrote it, as a task is by being made.
final class TaskHandles: @unchecked Sendable {
    private let handles: UnsafeMutablePointer<Task<Void, Never>?>
    private let count: Int

    init(count: Int) {
        self.count = count
        handles = .allocate(capacity: count)
        handles.initialize(repeating: nil, count: count)
    }

    deinit {
        handles.deinitialize(count: count)
        handles.deallocate()
    }

    subscript(operation: Int) -> Task<Void, Never>? {
        get { handles[operation] }
        set { handles[operation] = newValue }
    }
}
