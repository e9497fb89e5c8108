/// A kind of random program: its operations, its queues, and the storm over them.
struct Profile: Sendable {
    /// An action of a storm, as frequent as its weight.
    enum Action: Sendable, CaseIterable {
        case cancel, cancelAll, suspend, resume, changeLimit
        case changePriority, changeThreadPriority
        case addOrRemoveDependency, removeNothing
        case observe, observeQueue, replaceCompletion
        case waitShortly, waitForQueue, list, listElsewhere
        case openGate, closeGate
        case dropQueue, callSteward, pause
    }

    var weights: [Action: Int] = [:]
    var queues = 2...4
    var limits = [-1, -1, 1, 2, 3, 8]
    /// Parts of a hundred of what is added; the rest are operations with a main.
    var closures = 6
    var blocks = 4
    var barriers = 0
    /// Operations that may end before their turn.
    var early = 0
    /// Operations that override `start`, and such as override `isFinished`.
    var asynchronous = 14
    var late = 8
    var held = 9
    /// Operations whose work is `async`.
    var tasks = 9
    /// Operations of several blocks.
    var groups = 9
    /// Parts of a hundred of those that may.
    var dependent = 80
    var waiting = 8
    var waitingAtEnd = 0
    var napping = 3
    var watched = 10
    var completing = 80
    var kept = 70
    var raised = 80
    var lowered = 0
    var addedByOthers = 15
    /// Parts of a hundred of the queues.
    var underlying = 10
    var listening = 0
    var listeners: [Plan.Queue.Listener] = [.counting, .listing, .locking, .draining]
    var orderly = 0
    /// Queues that the storm or their own operations may drop; then the operations that do.
    var dropped = 25
    var dropping = 0
    /// Parts of a hundred of the programs that have a cycle.
    var cyclic = 0
    /// Whether trace receivers come and go, where the process is the scenarios' own: they get the events of all operations.
    var isTraced = false
    var stormThreads = 2
    var adders = 1...3
    /// Storm actions for each operation.
    var intensity = 2

    /// Whether what one thread adds comes in the order of the plan.
    var isInOrder: Bool { barriers > 0 || waitingAtEnd > 0 || listening > 0 }
    /// Whether mains interfere with others.
    var meddles: Bool { weights[.cancel] != nil }
    /// Whether the process may be strict about misuse: a wait for a cycle is one, and a late completion block.
    var isStrict: Bool { cyclic == 0 && weights[.replaceCompletion] == nil }

    private func with(_ change: (inout Profile) -> Void) -> Profile {
        var profile = self
        change(&profile)
        return profile
    }

    // MARK: Dependencies that come and go

    /// Everything at once, but for deinits that wait.
    static let everything = Profile(
        weights: [
            .cancel: 6, .cancelAll: 1, .suspend: 8, .resume: 14, .changeLimit: 8, .changePriority: 10,
            .changeThreadPriority: 3, .addOrRemoveDependency: 30, .removeNothing: 2, .observe: 6, .observeQueue: 1,
            .replaceCompletion: 4, .waitShortly: 4, .waitForQueue: 1, .list: 2, .openGate: 12, .closeGate: 4,
            .dropQueue: 1,
        ], cyclic: 20)

    /// Nobody interferes: what is promised without a race.
    static let calm = Profile().with { ($0.held, $0.watched) = (0, 50) }

    static let suspensions = Profile(weights: [.suspend: 20, .resume: 22, .changeLimit: 10, .list: 1]).with {
        $0.limits = [1, 2, 3, -1]
        ($0.intensity, $0.waiting, $0.cyclic) = (6, 0, 20)
    }

    static let cancellations = Profile(
        weights: [.cancel: 30, .cancelAll: 3, .suspend: 2, .resume: 4, .changePriority: 10, .observe: 5, .openGate: 4]
    ).with { ($0.asynchronous, $0.late, $0.watched, $0.cyclic) = (25, 20, 20, 20) }

    static let waits = Profile(
        weights: [.waitShortly: 20, .suspend: 2, .resume: 6, .cancel: 1, .changePriority: 4]
    ).with { ($0.waiting, $0.queues) = (40, 3...5) }

    static let threadPriorities = Profile(
        weights: [.changeThreadPriority: 20, .changePriority: 10, .suspend: 2, .resume: 4]
    ).with {
        ($0.lowered, $0.cyclic) = (40, 20)
        $0.limits = [1, 2, 4, -1]
    }

    static let observers = everything.with {
        $0.weights[.observe] = 60
        $0.watched = 60
    }

    static let behindBarriers = everything.with {
        $0.weights[.cancelAll] = nil
        ($0.barriers, $0.addedByOthers, $0.cyclic) = (6, 0, 0)
    }

    /// The same, and barriers are cancelled too.
    static let behindCancelledBarriers = behindBarriers.with { $0.weights[.cancelAll] = 2 }

    static let elsewhere = everything.with { ($0.underlying, $0.tasks) = (60, 35) }

    static let dependencies = Profile(
        weights: [
            .addOrRemoveDependency: 60, .removeNothing: 2, .cancel: 1, .changePriority: 3, .suspend: 1, .resume: 4,
        ]
    ).with { ($0.intensity, $0.cyclic) = (6, 10) }

    /// Queues dropped at every point of their operations' lives.
    static let farewells = everything.with {
        $0.weights = [.dropQueue: 8, .resume: 12, .suspend: 4, .cancel: 4, .cancelAll: 1, .observeQueue: 4, .pause: 20]
        ($0.dropped, $0.dropping, $0.isTraced, $0.cyclic) = (100, 25, true, 0)
        ($0.closures, $0.blocks, $0.barriers, $0.late, $0.tasks) = (15, 12, 4, 12, 14)
        ($0.kept, $0.completing, $0.watched, $0.underlying, $0.addedByOthers) = (20, 40, 30, 30, 0)
    }

    /// Little work in very many queues.
    static let manyQueues = calm.with {
        $0.queues = 200...800
        ($0.limits, $0.watched, $0.waiting, $0.napping) = ([-1, 1, 1, 2, 5], 0, 1, 0)
    }

    // MARK: Deinits that wait, observers that do, and early ends

    /// All of them at once.
    static let mixtures = Profile(
        weights: [
            .list: 20, .listElsewhere: 6, .cancel: 4, .cancelAll: 1, .suspend: 6, .resume: 12, .changeLimit: 4,
            .changePriority: 6, .observeQueue: 4, .callSteward: 4, .waitForQueue: 3, .pause: 30,
        ],
        queues: 3...6, limits: [1, 1, 1, 2, 3, -1], closures: 40, blocks: 12, barriers: 2, early: 12, asynchronous: 4,
        late: 2, held: 0, tasks: 0, groups: 2, dependent: 20, waiting: 6, waitingAtEnd: 25, napping: 10, watched: 6,
        completing: 10, kept: 10, raised: 40, lowered: 4, addedByOthers: 0, underlying: 12, listening: 40, orderly: 25,
        adders: 2...6, intensity: 1)

    /// Closures, deinits that wait and listings, in queues of few slots.
    static let leases = mixtures.with {
        $0.weights = [.list: 12, .listElsewhere: 4, .suspend: 3, .resume: 8, .callSteward: 4, .pause: 80]
        ($0.limits, $0.closures, $0.blocks, $0.early) = ([1, 1, 1, 2], 50, 2, 0)
        ($0.asynchronous, $0.late, $0.groups, $0.kept) = (0, 0, 0, 0)
        ($0.dependent, $0.lowered, $0.underlying, $0.listening) = (3, 0, 0, 0)
        ($0.waiting, $0.waitingAtEnd, $0.napping) = (2, 90, 60)
        ($0.barriers, $0.queues) = (1, 5...9)
    }

    /// Most queues run on queues of Dispatch.
    static let abroad = mixtures.with {
        ($0.underlying, $0.closures, $0.listening, $0.lowered) = (80, 50, 15, 0)
        $0.listeners = [.counting, .listing]
    }

    /// Queues whose observers take locks, and list.
    static let listeners = mixtures.with {
        ($0.listening, $0.closures, $0.watched, $0.dependent) = (90, 25, 25, 30)
        $0.listeners = [.locking, .locking, .listing]
    }

    /// Queues whose observers wait for the whole queue.
    static let drains = mixtures.with {
        ($0.listening, $0.closures, $0.early, $0.dependent) = (80, 15, 35, 50)
        $0.listeners = [.draining]
    }

    /// Operations that announce their end before their turn, and while it comes.
    static let early = mixtures.with {
        ($0.early, $0.closures, $0.blocks, $0.orderly, $0.dependent) = (50, 12, 4, 5, 40)
        ($0.waitingAtEnd, $0.listeners) = (12, [.counting, .listing])
    }
}

extension Scenario {
    /// Random programs, each of one kind.
    static let programs: [Scenario] = [
        program("random", "random graphs, and everything that may happen to them at once", .everything, rounds: 300),
        program("calm", "random graphs that nobody disturbs: exact notifications (D6–D15)", .calm),
        program("suspensions", "random graphs in queues suspended and limited at random (N2, N12)", .suspensions),
        program("cancellations", "random graphs with cancels of one and of all (J)", .cancellations),
        program("waits", "operations that wait for those of other queues (O6)", .waits),
        program("bands", "random graphs with thread priorities that change (H)", .threadPriorities),
        program("observers", "random graphs with observers that come and go (D)", .observers),
        program("barriers", "random graphs divided by barriers (P7, P8)", .behindBarriers),
        program("undone", "the same with cancels of all (P11)", .behindCancelledBarriers),
        program("elsewhere", "operations on queues of Dispatch and in tasks (P5, P6, X1, O8)", .elsewhere),
        program("dependencies", "dependencies that come late and go (E13, E18)", .dependencies, rounds: 200),
        program(
            "farewells", "queues dropped wherever their operations, observers and receivers may (P2, Q3, Q9, X4)",
            .farewells),
        program(
            "queues", "some hundred queues whose operations depend on each other's (E3, M14)", .manyQueues, size: 2_000,
            rounds: 10),
        program("mixtures", "closures, deinits that wait, early ends, listings, all at once (Q1, K13, M9)", .mixtures),
        program("leases", "closures and deinits that wait, in queues that share workers (Q1, O6)", .leases, size: 300),
        program("abroad", "the same on queues of Dispatch (P5, P6)", .abroad),
        program("listeners", "observers of queues that take locks others wait with, and list (D20, D23)", .listeners),
        program("drains", "observers of queues that wait for the whole queue (D20, O3)", .drains),
        program("early", "ends announced before the turn, and while it comes (C9, C12)", .early),
    ]

    private static func program(
        _ name: String, _ summary: String, _ profile: Profile, size: Int = 200, rounds: Int = 100
    ) -> Scenario {
        Scenario(name, summary, unit: "parts", size: size, rounds: rounds, testSize: 120, testRounds: 15) { run in
            Program.play(run, profile)
        }
    }
}
