/// A workload's kind, by its name in workload files and rows. Each shape has its own parameters (`ShapeDefinition`).
///
/// A shape's file declares its name; `ShapeDefinition.all` lists all shapes.
public struct Shape: Sendable, Hashable, Codable {
    public let rawValue: String

    /// - Parameter name: in small letters, digits and underscores.
    package init(_ name: String) { rawValue = name }
}
