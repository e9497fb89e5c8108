/// A kind of mixture: its operations, its queues, and the storm over them.
struct MixtureProfile: Sendable {
    /// An action of a storm, as frequent as its weight.
    enum Action: Sendable, CaseIterable {
        case list, listElsewhere
        case cancel, cancelAll
        case suspend, resume, changeLimit, changePriority
        case observe, callSteward, waitForQueue, pause
    }

    var weights: [Action: Int] = [
        .list: 20, .listElsewhere: 6, .cancel: 4, .cancelAll: 1, .suspend: 6, .resume: 12, .changeLimit: 4,
        .changePriority: 6, .observe: 4, .callSteward: 4, .waitForQueue: 3, .pause: 30,
    ]
    var queues = 3...6
    var limits = [1, 1, 1, 2, 3, -1]
    /// Parts of a hundred of what is added; the rest are operations with a main.
    var closures = 40
    var blocks = 12
    var barriers = 2
    var early = 12
    /// Parts of a hundred of those that may.
    var dependent = 20
    var waitingInside = 6
    var waitingAtEnd = 25
    var napping = 10
    var watched = 6
    var lowered = 4
    /// Parts of a hundred of the queues.
    var orderly = 25
    var underlying = 12
    var listening = 40
    var listeners: [MixturePlan.Queue.Listener] = [.counting, .listing, .locking, .draining]
    var stormThreads = 2

    /// Everything at once.
    static let everything = MixtureProfile()

    /// Closures, deinits that wait and listings, in queues of few slots.
    static let leases: MixtureProfile = {
        var profile = MixtureProfile()
        profile.weights = [.list: 12, .listElsewhere: 4, .suspend: 3, .resume: 8, .callSteward: 4, .pause: 80]
        (profile.limits, profile.closures, profile.blocks, profile.early) = ([1, 1, 1, 2], 50, 2, 0)
        (profile.dependent, profile.lowered, profile.underlying, profile.listening) = (3, 0, 0, 0)
        (profile.waitingInside, profile.waitingAtEnd, profile.napping) = (2, 90, 60)
        (profile.barriers, profile.queues) = (1, 5...9)
        return profile
    }()

    /// Most queues run on queues of Dispatch.
    static let abroad: MixtureProfile = {
        var profile = MixtureProfile()
        (profile.underlying, profile.closures, profile.listening, profile.lowered) = (80, 50, 15, 0)
        profile.listeners = [.counting, .listing]
        return profile
    }()

    /// Queues whose observers take locks, and list.
    static let listeners: MixtureProfile = {
        var profile = MixtureProfile()
        (profile.listening, profile.closures, profile.watched, profile.dependent) = (90, 25, 25, 30)
        profile.listeners = [.locking, .locking, .listing]
        return profile
    }()

    /// Queues whose observers wait for the whole queue.
    static let drains: MixtureProfile = {
        var profile = MixtureProfile()
        (profile.listening, profile.closures, profile.early, profile.dependent) = (80, 15, 35, 50)
        profile.listeners = [.draining]
        return profile
    }()

    /// Operations that announce their end before their turn, and while it comes.
    static let early: MixtureProfile = {
        var profile = MixtureProfile()
        (profile.early, profile.closures, profile.blocks, profile.orderly, profile.dependent) = (50, 12, 4, 5, 40)
        (profile.waitingAtEnd, profile.listeners) = (12, [.counting, .listing])
        return profile
    }()
}

extension Scenario {
    /// Random mixtures, each of one kind.
    public static let mixtures: [Scenario] = [
        mixture(
            "mixtures", "closures, deinits that wait, early ends, listings, all at once (Q1, K13, M9)", .everything),
        mixture(
            "leases", "closures and deinits that wait, in queues that share workers (Q1, O6)", .leases, size: 300,
            rounds: 200),
        mixture("abroad", "the same on queues of Dispatch (P5, P6)", .abroad, rounds: 50),
        mixture(
            "listeners", "observers of queues that take locks others wait with, and that list (D20, D23)", .listeners),
        mixture("drains", "observers of queues that wait for the whole queue (D20, O3)", .drains),
        mixture("early", "ends announced before the turn, and while it comes (C9, C12)", .early),
    ]

    private static func mixture(
        _ name: String, _ summary: String, _ profile: MixtureProfile, size: Int = 150, rounds: Int = 100
    ) -> Scenario {
        Scenario(name, summary, unit: "parts", size: size, rounds: rounds, testSize: 120, testRounds: 20) { run in
            Mixture.play(run, profile)
        }
    }
}
