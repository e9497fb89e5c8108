import OpBenchModel

/// Something that a thread did beside operations, as a library tells it.
package struct ThreadEvent: Sendable {
    package typealias Kind = ThreadStep

    package var kind: Kind
    /// Of `MonotonicClock`.
    package var time: Int64
    /// The system's number of the thread.
    package var thread: Int32
    /// Another thread: the one that is woken, or has woken this one.
    package var other: Int32?

    package init(_ kind: Kind, time: Int64, thread: Int32, other: Int32?) {
        (self.kind, self.time, self.thread, self.other) = (kind, time, thread, other)
    }
}

/// Keeps what a library tells of its threads. One at a time in a process.
package protocol ThreadEventSource: AnyObject, Sendable {
    /// From now on events are kept; those of before are forgotten.
    func start()
    /// - Returns: what was kept, in any order.
    func stop() -> [ThreadEvent]
}
