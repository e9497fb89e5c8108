import CBuild

/// What a build of opbench answers when another asks what it is.
public struct BuildDescription: Sendable, Codable, Equatable {
    /// Of the orders that samples' processes take, and of their answers. Builds of other versions cannot be compared.
    static let protocolVersion = 1

    var protocolVersion = Self.protocolVersion
    public let allocator: String
    /// `debug` or `release`.
    public let configuration: String
    public let compiler: String
    /// Of the sources that it was built from, as told when it was built, ending in `-dirty` if they differed from it; nil if
    /// nobody told: `scripts/opbench` and `ab --base-ref` do.
    public var commit: String?

    enum CodingKeys: String, CodingKey {
        case protocolVersion = "protocol"
        case allocator, configuration, compiler, commit
    }

    /// Of this program.
    public static let own: BuildDescription = {
        let commit = String(cString: cbuild_commit())
        return BuildDescription(
            allocator: Allocator.name, configuration: HostFacts.configuration, compiler: HostFacts.compiler,
            commit: commit.isEmpty ? nil : commit)
    }()
}
