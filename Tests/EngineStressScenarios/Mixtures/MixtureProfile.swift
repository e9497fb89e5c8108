/// What kind of mixture is made: which operations, which queues, and what the storm over them does.
struct MixtureProfile: Sendable {
    /// What a storm does, each as often as its weight says.
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
        profile.weights = [.list: 30, .listElsewhere: 8, .suspend: 4, .resume: 8, .callSteward: 4, .pause: 40]
        (profile.limits, profile.closures, profile.blocks, profile.early) = ([1, 1, 2], 60, 4, 0)
        (profile.dependent, profile.lowered, profile.underlying, profile.listening) = (5, 0, 0, 0)
        (profile.waitingAtEnd, profile.napping) = (40, 20)
        return profile
    }()

    /// Most queues run on queues of Dispatch.
    static let abroad: MixtureProfile = {
        var profile = MixtureProfile()
        (profile.underlying, profile.closures, profile.listening, profile.lowered) = (80, 50, 15, 0)
        return profile
    }()

    /// Queues whose observers take locks, list, and wait.
    static let listeners: MixtureProfile = {
        var profile = MixtureProfile()
        (profile.listening, profile.closures, profile.watched, profile.dependent) = (90, 25, 25, 30)
        profile.listeners = [.locking, .locking, .draining, .draining, .listing]
        return profile
    }()

    /// Operations that announce their end before their turn, and while it comes.
    static let early: MixtureProfile = {
        var profile = MixtureProfile()
        (profile.early, profile.closures, profile.blocks, profile.orderly, profile.dependent) = (50, 12, 4, 5, 40)
        profile.waitingAtEnd = 12
        return profile
    }()
}

extension Scenario {
    /// Random mixtures, each of one kind.
    static let mixtures: [Scenario] = [
        mixture("mixtures", "closures, deinits that wait, early ends, listings, all at once (Q1, K13, M9)", .everything),
        mixture("leases", "closures and deinits that wait, in queues that share their workers (Q1, O6)", .leases),
        mixture("abroad", "the same on queues of Dispatch (P5, P6)", .abroad, rounds: 50),
        mixture("listeners", "observers of queues that take locks, list, and wait for the queue (D20, D23)", .listeners),
        mixture("early", "ends announced before the turn, and while it comes (C9, C12)", .early),
    ]

    private static func mixture(
        _ name: String, _ summary: String, _ profile: MixtureProfile, rounds: Int = 100
    ) -> Scenario {
        Scenario(name, summary, unit: "parts", size: 150, rounds: rounds, testSize: 120, testRounds: 10) { run in
            Mixture.play(run, profile)
        }
    }
}
