import CLinux

/// The references that a finishing operation keeps alive while it calls user code for its dependents.
///
/// Such a dependent may end in that call and leave its queue. Then its last reference would be released while the
/// finishing operation still has its slot, and a deinit that waits for a later operation of the queue would wait
/// forever. So the references are kept, and released once the slot is free. The calls may be nested, when a dependent's
/// end makes calls for its own dependents. Then the outermost call on the thread keeps the references of all.
///
/// Belongs to one thread.
final class KeptAlive {
    private var objects: [AnyObject] = []

    /// Runs `body`, in which `keep` may be called.
    ///
    /// - Returns: whether the caller has to call `take`. If not, an outer call does.
    static func during(_ body: () -> Void) -> Bool {
        if clinux_kept_list() != nil {
            body()
            return false
        }
        clinux_set_kept_list(Unmanaged.passRetained(KeptAlive()).toOpaque())
        body()
        return true
    }

    /// Keeps an object. Inside `during`.
    static func keep(_ object: AnyObject) {
        clinux_kept_list().map { Unmanaged<KeptAlive>.fromOpaque($0).takeUnretainedValue().objects.append(object) }
    }

    /// Ends `during` for the outermost caller. Returns what was kept; nil if there is nothing.
    static func take() -> KeptAlive? {
        guard let list = clinux_kept_list() else { return nil }
        clinux_set_kept_list(nil)
        return Unmanaged<KeptAlive>.fromOpaque(list).takeRetainedValue()
    }
}
