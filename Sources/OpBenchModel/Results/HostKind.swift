/// The properties of a host that must be equal for figures to be comparable.
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

    /// One line for people, without the commit in jemalloc's version.
    public var summary: String { "\(hostClass), \(Self.shortened(allocator: allocator)), \(configuration)" }

    /// An allocator's name, version and options, such as `jemalloc 5.3.0, narenas:1`.
    public static func shortened(allocator: String) -> String {
        guard let commit = allocator.firstRange(of: "-0-g") else { return allocator }
        return String(allocator[..<commit.lowerBound] + allocator[commit.upperBound...].drop(while: \.isHexDigit))
    }

    /// The first difference, for people; nil if there is none.
    public func difference(from other: HostKind) -> (what: String, own: String, others: String)? {
        [
            ("host class", hostClass, other.hostClass), ("allocator", allocator, other.allocator),
            ("build", configuration, other.configuration),
        ].first { $0.1 != $0.2 }
    }
}
