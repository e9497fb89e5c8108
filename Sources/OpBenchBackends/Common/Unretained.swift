/// A reference that is neither retained nor released, to what outlives its use: bodies run by the million, and a reference
/// count is an atomic operation on a line that all threads share.
///
/// `unowned(unsafe)` does not serve: every use of it retains and releases what it refers to.
public struct Unretained<Object: AnyObject>: @unchecked Sendable {
    @usableFromInline let reference: Unmanaged<Object>

    @inlinable
    @inline(__always)
    public init(_ object: Object) { reference = .passUnretained(object) }

    @inlinable
    @inline(__always)
    public func callAsFunction<Result>(_ use: (Object) -> Result) -> Result { reference._withUnsafeGuaranteedRef(use) }
}
