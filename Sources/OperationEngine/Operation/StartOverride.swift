/// Whether a class overrides `Operation.start`.
///
/// Two rules turn on it: a cancelled operation may be finished without a slot only if its `start` is the engine's own
/// (contract J9), and an overridden `start` runs at the normal thread priority (H4). Swift has no question to ask for
/// this, so the class's method table is looked at: on Linux, and outside library evolution, a subclass's metadata
/// begins with its superclass's entries at the same offsets (docs/ABI/TypeMetadata.rst of the Swift project). The
/// offset of `start` is not assumed but found, as the one entry by which a probe class that overrides it differs from
/// two that override nothing. If that does not single out one entry, every class counts as overriding: then J9 and
/// thread priorities are not applied, and nothing else changes.
enum StartOverride {
    static func isPresent(in operation: Operation) -> Bool {
        guard let slot else { return true }
        return entries(of: type(of: operation))[slot] != entries(of: Operation.self)[slot]
    }

    /// Words before the first member: kind, superclass, flags, sizes (two words), description, ivar destroyer.
    private static let headerWords = 7
    /// The word whose lower half is the metadata's size, the upper half what of it lies before the address point.
    private static let sizeWord = 4

    private static let slot: Int? = {
        let size = entries(of: Operation.self)[sizeWord]
        let words = (Int(size & 0xFFFF_FFFF) - Int(size >> 32)) / MemoryLayout<UInt>.size
        guard words > headerWords, words < 1000 else { return nil }
        let (plain, otherPlain, probe) = (
            entries(of: Plain.self), entries(of: OtherPlain.self), entries(of: OverridesStart.self)
        )
        let candidates = (headerWords..<words).filter {
            plain[$0] != probe[$0] && plain[$0] == otherPlain[$0] && plain[$0] == entries(of: Operation.self)[$0]
        }
        return candidates.count == 1 ? candidates[0] : nil
    }()

    private static func entries(of type: Operation.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(type as AnyClass, to: UnsafePointer<UInt>.self)
    }

    private final class Plain: Operation, @unchecked Sendable {}
    private final class OtherPlain: Operation, @unchecked Sendable {}
    private final class OverridesStart: Operation, @unchecked Sendable {
        override func start() { super.start() }
    }
}
