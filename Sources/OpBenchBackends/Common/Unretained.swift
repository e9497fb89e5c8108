/// A reference that is neither retained nor released, to an object that outlives its use: bodies run by the million,
/// and a reference count is an atomic operation on a line that all threads share.
///
/// `unowned(unsafe)` does not serve: every use of it retains and releases the object.
package struct Unretained<Object: AnyObject>: @unchecked Sendable {
    let reference: Unmanaged<Object>

    @inline(__always)
    package init(_ object: Object) { reference = .passUnretained(object) }

    @inline(__always)
    package func callAsFunction<Result>(_ use: (Object) -> Result) -> Result { reference._withUnsafeGuaranteedRef(use) }
}
