/// The course of the rounds of one process (Barrett et al. 2017, "Virtual machine warmup blows hot and cold"), and of
/// all processes of a cell on a backend.
public enum Steadiness: String, CaseIterable, Sendable, Hashable {
    /// All rounds are on one level.
    case flat
    /// The rounds reached a steady state, and earlier ones were slower.
    case warmingUp = "warming_up"
    /// The rounds reached a steady state, and earlier ones were faster.
    case slowingDown = "slowing_down"
    /// The level still changed in the last quarter of the rounds.
    case noSteadyState = "no_steady_state"
    /// The processes of a cell differ in the above; never the class of one process.
    case inconsistent

    /// The class of a sample by its flags: a sample that is `flat`, or has too few rounds for a class, has none.
    public init?(flags: [String]) {
        guard let found = flags.lazy.compactMap(Steadiness.init(rawValue:)).first else { return nil }
        self = found
    }
}
