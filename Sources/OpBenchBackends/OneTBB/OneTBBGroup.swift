#if PEERS
    import COneTBB
    import OpBenchModel

    /// Operations as tasks of a `task_group`. A body runs what follows it in a chain or graph, and the next batch if it
    /// is the last of its own.
    final class OneTBBGroup: RoundBackend, @unchecked Sendable {
        private let plan: WorkloadPlan
        private let tasks: Tasks

        init(_ plan: WorkloadPlan, _ body: OperationBody) {
            self.plan = plan
            tasks = Tasks(plan, body)
        }

        deinit { tasks.deallocate() }

        func build() { tasks.makeGroup(threads: OneTBBBackend.threads(plan)) }

        func submit(_ part: Range<Int>) { tasks.inArena { tasks.submit(part, of: plan) } }

        func drain() { tasks.wait() }

        func teardown() { tasks.destroyGroup() }
    }

    /// All that the operations of a round read.
    ///
    /// A pointer, which oneTBB hands to each operation, without reference counting. Adding an operation is an atomic
    /// instruction, which waits for every load and store before it. So it is few steps from here to what a body loads,
    /// and nothing is copied.
    private struct Tasks {
        private let state: UnsafeMutablePointer<State>

        private struct State {
            let body: OperationBody
            let successors: Successors?
            let batches: CountedBatches?
            let hasCompletionBlocks: Bool
            /// From `build` to `teardown`.
            var group: OpaquePointer!
        }

        init(_ plan: WorkloadPlan, _ body: OperationBody) {
            state = .allocate(capacity: 1)
            state.initialize(
                to: State(
                    body: body, successors: plan.hasDependencies ? Successors(plan) : nil,
                    batches: CountedBatches(plan), hasCompletionBlocks: plan.hasCompletionBlocks))
        }

        private init(at address: UnsafeMutableRawPointer?) {
            state = address!.assumingMemoryBound(to: State.self)
        }

        func deallocate() {
            state.pointee.successors?.deallocate()
            state.pointee.batches?.deallocate()
            state.deallocate()
        }

        // MARK: Phases

        func makeGroup(threads: Int32) {
            state.pointee.group = conetbb_group_create(threads, { Tasks(at: $0).run($1) }, state)
        }

        func destroyGroup() { conetbb_group_destroy(state.pointee.group) }

        func inArena(_ work: () -> Void) {
            withoutActuallyEscaping(work) { work in
                withUnsafePointer(to: work) { work in
                    conetbb_group_enter(
                        state.pointee.group, { $0!.assumingMemoryBound(to: (() -> Void).self).pointee() },
                        UnsafeMutableRawPointer(mutating: work))
                }
            }
        }

        func submit(_ part: Range<Int>, of plan: WorkloadPlan) {
            if state.pointee.batches != nil {
                submitBatch(part.lowerBound)
            } else if let successors = state.pointee.successors {
                for head in successors.heads { submit(head) }
            } else if plan.submission == .bulk {
                state.pointee.body.submitTogether(part, in: plan) {
                    for operation in part { add(operation) }
                }
            } else {
                for operation in part { submit(operation) }
            }
        }

        func wait() {
            conetbb_group_wait(state.pointee.group)
            state.pointee.batches?.wait()
        }

        // MARK: Operations

        @inline(__always)
        private func add(_ operation: Int) { conetbb_group_run(state.pointee.group, operation) }

        @inline(__always)
        private func submit(_ operation: Int) {
            state.pointee.body.willSubmit(operation)
            add(operation)
            state.pointee.body.didSubmit(operation)
        }

        @inline(never)
        private func submitBatch(_ operation: Int) { state.pointee.batches!.submitNext(operation) { submit($0) } }

        /// An operation. Where nothing is timed, adding the next link of a chain is its last call.
        @inline(__always)
        private func run(_ operation: Int) {
            let body = state.pointee.body
            if body.takesStamps { return runTimed(operation) }
            body.run(operation)
            if let successors = state.pointee.successors {
                _ = successors.release(after: operation) { add($0) }
            } else if let batches = state.pointee.batches, batches.didEnd(operation, body) {
                submitBatch(operation)
            }
        }

        @inline(never)
        private func runTimed(_ operation: Int) {
            let body = state.pointee.body
            body.run(operation)
            if let successors = state.pointee.successors {
                _ = successors.release(after: operation) { submit($0) }
            } else if let batches = state.pointee.batches {
                if batches.didEnd(operation, body) { submitBatch(operation) }
                return
            }
            if body.wantsNotification(operation), state.pointee.hasCompletionBlocks { body.didNotify(operation) }
        }
    }
#endif
