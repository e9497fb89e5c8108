/// A call to the system failed with this `errno`.
public struct SystemError: Error, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }
}
