import OpBenchModel

/// The backends of an explanation's sides: one backend of two builds, or two backends of one build.
public struct ExplainedBackends: Hashable, Sendable {
    public let base: BackendID
    public let head: BackendID

    public init(base: BackendID, head: BackendID) { (self.base, self.head) = (base, head) }

    /// One backend of two builds.
    public init(_ backend: BackendID) { self.init(base: backend, head: backend) }

    public subscript(side: Side) -> BackendID {
        switch side {
        case .base: base
        case .head: head
        }
    }

    /// Whether the sides are two backends, not two builds.
    public var areTwo: Bool { base != head }

    /// The name of a side: its backend if there are two, else `base` or `head`.
    public func name(of side: Side) -> String { areTwo ? self[side].rawValue : side.rawValue }

    /// The names of the sides: `base → head`, `engine → dispatch`.
    public var names: String { "\(name(of: .base)) → \(name(of: .head))" }

    /// A title for a cell's explanation.
    public func title(of cellID: String) -> String {
        areTwo ? "\(cellID): \(names)" : "\(cellID) on \(base.rawValue)"
    }
}
