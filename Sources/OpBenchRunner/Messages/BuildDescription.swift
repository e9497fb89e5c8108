/// What a build of opbench answers when another asks what it is.
public struct BuildDescription: Sendable, Codable, Equatable {
    /// Of the orders that samples' processes take, and of their answers. Builds of other versions cannot be compared.
    static let protocolVersion = 1

    var protocolVersion = Self.protocolVersion
    public let allocator: String
    /// `debug` or `release`.
    public let configuration: String
    let compiler: String

    enum CodingKeys: String, CodingKey {
        case protocolVersion = "protocol"
        case allocator, configuration, compiler
    }
}
