import CLinux

/// What a finishing operation keeps alive while it calls code of the user on behalf of its dependents.
///
/// Such a dependent may end in that call, and leave its queue; then the last reference would go while the operation that
/// finishes still has its slot, and a deinit that waits for a later operation of the queue would wait for ever. So the
/// references are kept, to be released once the slot is free. Calls may be nested, when a dependent's end calls on behalf
/// of its own dependents: the outermost on the thread keeps for all.
///
/// Belongs to one thread.
final class KeptAlive {
    private var objects: [AnyObject] = []

    /// Runs `body`, in which `keep` may be called.
    ///
    /// - Returns: whether the caller is to call `take`; not if an outer call does.
    static func during(_ body: () -> Void) -> Bool {
        if clinux_kept_list() != nil {
            body()
            return false
        }
        clinux_set_kept_list(Unmanaged.passRetained(KeptAlive()).toOpaque())
        body()
        return true
    }

    /// Inside of `during`.
    static func keep(_ object: AnyObject) {
        clinux_kept_list().map { Unmanaged<KeptAlive>.fromOpaque($0).takeUnretainedValue().objects.append(object) }
    }

    /// Ends `during` for the outermost caller, which gets what was kept; nil if there is nothing.
    static func take() -> KeptAlive? {
        guard let list = clinux_kept_list() else { return nil }
        clinux_set_kept_list(nil)
        return Unmanaged<KeptAlive>.fromOpaque(list).takeRetainedValue()
    }
}
