/// An object of a known size that an operation keeps for its lifetime.
package enum Payload {
    /// Every object's own header.
    private static let headerBytes = 16

    /// One object, and one allocation, of that many bytes; touched, so that it is resident.
    package static func make(bytes: Int) -> ManagedBuffer<Void, UInt8> {
        let count = max(0, bytes - headerBytes)
        let buffer = ManagedBuffer<Void, UInt8>.create(minimumCapacity: count) { _ in () }
        buffer.withUnsafeMutablePointerToElements { $0.initialize(repeating: 0, count: count) }
        return buffer
    }
}

extension OperationBody {
    /// The operation as a closure, which keeps a payload of that size; none for 0.
    package func closure(_ operation: Int, payloadBytes: Int) -> @Sendable () -> Void {
        guard payloadBytes > 0 else { return { run(operation) } }
        return closure(operation, keeping: Payload.make(bytes: payloadBytes))
    }

    package func closure(_ operation: Int, keeping payload: AnyObject) -> @Sendable () -> Void {
        nonisolated(unsafe) let payload = payload
        return {
            run(operation)
            withExtendedLifetime(payload) {}
        }
    }
}
