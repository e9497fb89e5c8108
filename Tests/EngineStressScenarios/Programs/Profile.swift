/// A kind of random program: its operations, its queues, and the storm over them.
struct Profile: Sendable {
    /// An action of a storm, as frequent as its weight.
    enum Action: Sendable, CaseIterable {
        case cancel, cancelAll, suspend, resume, changeLimit
        case changePriority, changeThreadPriority
        case addOrRemoveDependency, removeNothing
        case observe, replaceCompletion
        case waitShortly, list
        case openGate, closeGate
        case dropQueue
    }

    var weights: [Action: Int]
    var queues = 2...4
    var limits = [-1, -1, 1, 2, 3, 8]
    /// Parts of a hundred of the operations.
    var asynchronous = 15
    var late = 8
    var held = 10
    /// Operations whose work is `async`.
    var tasks = 10
    var blocks = 10
    var waiting = 8
    var napping = 3
    var watched = 10
    var lowered = 0
    var addedByOthers = 15
    /// Parts of a hundred of the queues that run on a queue of Dispatch.
    var underlying = 10
    /// After how many of a hundred batches a barrier is added. Then operations are added in the order in which they
    /// depend on each other, as they have to be.
    var barriers = 0
    /// Parts of a hundred of the programs that have a cycle.
    var cyclic = 20
    var stormThreads = 2
    var adders = 1...3
    /// Storm actions for each operation.
    var intensity = 2

    /// Everything at once.
    static let everything = Profile(weights: [
        .cancel: 6, .cancelAll: 1, .suspend: 8, .resume: 14, .changeLimit: 8, .changePriority: 10,
        .changeThreadPriority: 3, .addOrRemoveDependency: 30, .removeNothing: 2, .observe: 6, .replaceCompletion: 4,
        .waitShortly: 4, .list: 2, .openGate: 12, .closeGate: 4, .dropQueue: 1,
    ])

    /// Nobody interferes: what is promised without a race.
    static let calm: Profile = {
        var profile = Profile(weights: [:])
        (profile.held, profile.watched, profile.cyclic) = (0, 50, 0)
        return profile
    }()

    static let suspensions: Profile = {
        var profile = Profile(weights: [.suspend: 20, .resume: 22, .changeLimit: 10, .list: 1])
        profile.limits = [1, 2, 3, -1]
        (profile.intensity, profile.waiting) = (6, 0)
        return profile
    }()

    static let cancellations: Profile = {
        var profile = Profile(weights: [
            .cancel: 30, .cancelAll: 3, .suspend: 2, .resume: 4, .changePriority: 10, .observe: 5, .openGate: 4,
        ])
        (profile.asynchronous, profile.late, profile.watched) = (25, 20, 20)
        return profile
    }()

    static let waits: Profile = {
        var profile = Profile(weights: [.waitShortly: 20, .suspend: 2, .resume: 6, .cancel: 1, .changePriority: 4])
        (profile.waiting, profile.cyclic, profile.queues) = (40, 0, 3...5)
        return profile
    }()

    static let threadPriorities: Profile = {
        var profile = Profile(weights: [.changeThreadPriority: 20, .changePriority: 10, .suspend: 2, .resume: 4])
        (profile.lowered, profile.limits) = (40, [1, 2, 4, -1])
        return profile
    }()

    static let observers: Profile = {
        var profile = everything
        profile.weights[.observe] = 60
        profile.watched = 60
        return profile
    }()

    static let behindBarriers: Profile = {
        var profile = everything
        profile.weights[.cancelAll] = nil
        (profile.barriers, profile.addedByOthers, profile.cyclic, profile.adders) = (15, 0, 0, 1...1)
        return profile
    }()

    /// The same, and barriers are cancelled too.
    static let behindCancelledBarriers: Profile = {
        var profile = behindBarriers
        profile.weights[.cancelAll] = 2
        return profile
    }()

    static let elsewhere: Profile = {
        var profile = everything
        (profile.underlying, profile.tasks) = (60, 40)
        return profile
    }()

    static let dependencies: Profile = {
        var profile = Profile(weights: [
            .addOrRemoveDependency: 60, .removeNothing: 2, .cancel: 1, .changePriority: 3, .suspend: 1, .resume: 4,
        ])
        (profile.intensity, profile.cyclic) = (6, 10)
        return profile
    }()
}

extension Scenario {
    /// Random programs, each of one kind.
    static let programs: [Scenario] = [
        program("random", "random graphs, and everything that may happen to them at once", .everything, rounds: 300),
        program("calm", "random graphs that nobody disturbs: exact notifications (D6–D15)", .calm, rounds: 100),
        program("suspensions", "random graphs in queues suspended and limited at random (N2, N12)", .suspensions),
        program("cancellations", "random graphs with cancels of one and of all (J)", .cancellations),
        program("waits", "operations that wait for those of other queues (O6)", .waits),
        program("bands", "random graphs with thread priorities that change (H)", .threadPriorities),
        program("observers", "random graphs with observers that come and go (D)", .observers),
        program("barriers", "random graphs divided by barriers (P7, P8)", .behindBarriers),
        program("undone", "the same with cancels of all (P11)", .behindCancelledBarriers),
        program("elsewhere", "operations on queues of Dispatch and in tasks (P5, P6, X1, O8)", .elsewhere),
        program("dependencies", "dependencies that come late and go (E13, E18)", .dependencies, rounds: 200),
    ]

    private static func program(_ name: String, _ summary: String, _ profile: Profile, rounds: Int = 100) -> Scenario {
        Scenario(name, summary, size: 200, rounds: rounds, testSize: 120, testRounds: 12) { run in
            Program.play(run, profile)
        }
    }
}
