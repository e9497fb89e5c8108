#if PEERS
    import COneTBB
    import OpBenchModel

    /// Operations as nodes of a flow graph, made and connected in `build`. To submit them is to start those that wait
    /// for nothing.
    final class OneTBBGraph: RoundBackend, @unchecked Sendable {
        private let plan: WorkloadPlan
        private let body: OperationBody
        /// From `build` to `teardown`.
        private var graph: OpaquePointer!

        init(_ plan: WorkloadPlan, _ body: OperationBody) {
            self.plan = plan
            self.body = body
        }

        func build() {
            // The round outlives its operations, since `drain` waits for them.
            let round = Unmanaged.passUnretained(self).toOpaque()
            graph = conetbb_graph_create(
                OneTBBBackend.threads(plan), plan.operationCount,
                { round, operation in
                    Unmanaged<OneTBBGraph>.fromOpaque(round!)._withUnsafeGuaranteedRef { $0.run(operation) }
                }, round)
            plan.forEachDependency { conetbb_graph_connect(graph, $1, $0) }
        }

        func submit(_ part: Range<Int>) {
            body.submitTogether(part, in: plan) { if !plan.startsSuspended { start() } }
        }

        func release() { start() }

        func drain() { conetbb_graph_wait(graph) }

        func teardown() { conetbb_graph_destroy(graph) }

        private func start() {
            let sources = plan.graph?.sources ?? Array(0..<plan.predecessorDistance)
            conetbb_graph_start(graph, sources, sources.count)
        }

        @inline(__always)
        private func run(_ operation: Int) {
            body.run(operation)
            if body.wantsNotification(operation), plan.hasCompletionBlocks { body.didNotify(operation) }
        }
    }
#endif
