import OpBenchBackends
import OpBenchModel

/// What a backend says of a cell, without making any of it.
public enum BackendSupport: Sendable, Equatable {
    /// It executes the cell; the note names what differs in meaning, if anything does.
    case full(note: String)
    case unsupported(reason: String)

    /// - Parameter backend: one that is defined for the cell's shape.
    public init(of cell: Cell, on backend: BackendID) {
        switch BackendFactory.named(backend)?.supports(.forSupport(cell)) {
        case .full(let note): self = .full(note: note)
        case .unsupported(let reason): self = .unsupported(reason: reason)
        case nil: self = .unsupported(reason: "this program does not have it")
        }
    }
}
