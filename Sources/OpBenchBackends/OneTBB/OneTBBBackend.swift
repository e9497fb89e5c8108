import OpBenchModel

#if PEERS
    import CLinux
    import COneTBB
#endif

/// oneTBB, in builds with `OPBENCH_PEERS=1`: Debian's `libtbb-dev`.
///
/// | shape | `tbb` | `tbb:flow` |
/// |---|---|---|
/// | independent | `task_group::run` | – |
/// | refill | the last body of a batch runs the next, by an atomic counter | – |
/// | chain, graph | each body runs the successors that it made ready | a `continue_node` for each operation |
///
/// As many threads run operations as there are processors, or fewer by the limit. The thread that waits is one of them,
/// as programs use oneTBB. A plan with a limit, or several producers, has an arena of its own in each round; others have
/// the submitting thread's, as programs without `task_arena`: a new one in each round made tiny operations 3 % slower.
///
/// A producer that finds the arena full has its operations submitted by a thread in it: with a place for each, four
/// producers took twice as long.
package enum OneTBBBackend {
    /// Empty in other builds.
    package static let factories: [BackendFactory] = {
        #if PEERS
            [tasks, flow]
        #else
            []
        #endif
    }()

    /// The library's version; nil in other builds.
    package static let version: String? = {
        #if PEERS
            String(cString: conetbb_version())
        #else
            nil
        #endif
    }()

    /// The remedy for a program without it.
    package static let remedy = "build it with oneTBB (libtbb-dev): OPBENCH_PEERS=1 scripts/opbench"

    #if PEERS
        private static let tasks = BackendFactory(
            id: BackendID(rawValue: "tbb"), guarantees: [.limit],
            ways: [.independent: group, .chain: group, .graph: group],
            otherwise: "a task group has independent operations, chains and graphs only")

        private static let flow = BackendFactory(
            id: BackendID(rawValue: "tbb:flow"), guarantees: [.limit], ways: [.chain: nodes, .graph: nodes],
            otherwise: "a form of chains and graphs only")

        private static let group = Way(
            support: support, canHoldPending: { _ in false }, make: { OneTBBGroup($0, $1) }
        ).on(.byHand)

        private static let nodes = Way(
            support: support, canHoldPending: { _ in true }, make: { OneTBBGraph($0, $1) }
        ).on(.declared)

        private static func support(_ plan: WorkloadPlan) -> Support {
            let isAcrossQueues = plan.chains?.queues ?? 1 > 1
            if isAcrossQueues, plan.limit != nil {
                return .unsupported(reason: "arenas with a limit each have no group or graph in common")
            }
            let notes = [
                "the waiting thread runs operations", isAcrossQueues ? "one arena in place of the queues" : nil,
                hasOwnMalloc ? "oneTBB allocates with its own malloc" : nil,
            ]
            return .full(note: notes.compactMap(\.self).joined(separator: "; "))
        }

        private static let hasOwnMalloc = conetbb_has_own_malloc()

        /// The threads of a round's own arena, no more than there are processors; 0 if it has none.
        static func threads(_ plan: WorkloadPlan) -> Int32 {
            if plan.limit == nil, plan.parts.count == 1 { return 0 }
            let processors = clinux_allowed_processors()
            return plan.limit.map { min(Int32($0), processors) } ?? processors
        }
    #endif
}
