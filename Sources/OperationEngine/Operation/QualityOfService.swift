/// The kind of work that an operation or a queue does. It affects threads only, never the order in which a queue
/// chooses operations (contract N14).
public enum QualityOfService: Int, Sendable {
    /// Work that a user watches, such as an animation.
    case userInteractive = 33
    /// Work that a user waits for.
    case userInitiated = 25
    /// Long work whose progress a user may follow.
    case utility = 17
    /// Work that no user sees.
    case background = 9
    /// Unspecified.
    case `default` = -1

    /// The band for this quality of service. Never one that needs a privilege.
    var band: NiceBand {
        switch self {
        case .background: NiceBand(nice: 10).permitted
        case .utility: NiceBand(nice: 5).permitted
        case .userInteractive, .userInitiated, .default: .normal
        }
    }
}
