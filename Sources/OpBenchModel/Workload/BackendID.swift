/// A backend by its name in files and rows: `engine`, `dispatch`, `dispatch:notify`, …
public struct BackendID: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let engine = BackendID(rawValue: "engine")
    public static let dispatch = BackendID(rawValue: "dispatch")
    public static let foundation = BackendID(rawValue: "foundation")
    public static let concurrency = BackendID(rawValue: "concurrency")
    public static let serial = BackendID(rawValue: "serial")
}
