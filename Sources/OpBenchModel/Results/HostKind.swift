/// What must be the same for figures to be comparable.
public struct HostKind: Hashable, Sendable {
    public var hostClass: String
    public var allocator: String
    /// `debug` or `release`.
    public var configuration: String

    public init(hostClass: String, allocator: String, configuration: String) {
        self.hostClass = hostClass
        self.allocator = allocator
        self.configuration = configuration
    }

    /// The first difference, for people; nil if there is none.
    public func difference(from other: HostKind) -> (what: String, own: String, others: String)? {
        [
            ("host class", hostClass, other.hostClass), ("allocator", allocator, other.allocator),
            ("build", configuration, other.configuration),
        ].first { $0.1 != $0.2 }
    }
}
