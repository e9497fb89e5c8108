/// The kind of work that an operation or a queue does. It affects threads only, never the order in which a queue
/// chooses (contract N14).
public enum QualityOfService: Int, Sendable {
    /// Work that somebody watches, as an animation.
    case userInteractive = 33
    /// Work that somebody waits for.
    case userInitiated = 25
    /// Long work whose progress somebody may follow.
    case utility = 17
    /// Work that nobody sees.
    case background = 9
    /// Nothing said.
    case `default` = -1

    /// Never one that needs a privilege.
    var band: NiceBand {
        switch self {
        case .background: NiceBand(nice: 10).permitted
        case .utility: NiceBand(nice: 5).permitted
        case .userInteractive, .userInitiated, .default: .normal
        }
    }
}
