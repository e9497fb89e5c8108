extension BackendFactory {
    /// Every backend and form of this module: all but those of the two libraries of operation queues, which are modules
    /// of their own.
    package static let builtIn: [BackendFactory] = [
        SerialBackend.factory, FutexBackend.factory,
        DispatchBackend.factory, DispatchBackend.notify, DispatchBackend.serial,
        DispatchBackend.inline, DispatchBackend.item, DispatchBackend.function, DispatchBackend.apply,
        ConcurrencyBackend.factory, ConcurrencyBackend.await, ConcurrencyBackend.group,
    ]
}
