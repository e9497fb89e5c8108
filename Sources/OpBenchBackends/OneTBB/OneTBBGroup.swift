#if PEERS
    import COneTBB
    import OpBenchModel

    /// Operations as tasks of a `task_group`. A body runs what follows it in a chain or graph, and the next batch if it
    /// is the last of its own.
    final class OneTBBGroup: Backend, @unchecked Sendable {
        private let plan: WorkloadPlan
        private let body: OperationBody
        private let batches: CountedBatches?
        private let successors: Successors?
        /// From `build` to `teardown`.
        private var group: OpaquePointer!

        init(_ plan: WorkloadPlan, _ body: OperationBody) {
            self.plan = plan
            self.body = body
            batches = CountedBatches(plan)
            successors = plan.hasDependencies ? Successors(plan) : nil
        }

        deinit {
            batches?.deallocate()
            successors?.deallocate()
        }

        // MARK: Phases

        func build() {
            // The round outlives its operations, since `drain` waits for them.
            let round = Unmanaged.passUnretained(self).toOpaque()
            group = conetbb_group_create(
                OneTBBBackend.threads(plan),
                { round, operation in
                    Unmanaged<OneTBBGroup>.fromOpaque(round!)._withUnsafeGuaranteedRef { $0.run(operation) }
                }, round)
        }

        func submit(_ part: Range<Int>) {
            inArena {
                if let batches {
                    batches.submitNext(part.lowerBound) { submit($0) }
                } else if let successors {
                    for head in successors.heads { submit(head) }
                } else if plan.submission == .bulk {
                    body.submitTogether(part, in: plan) {
                        for operation in part { conetbb_group_run(group, operation) }
                    }
                } else {
                    for operation in part { submit(operation) }
                }
            }
        }

        func release() {}

        func drain() {
            conetbb_group_wait(group)
            batches?.wait()
        }

        func teardown() { conetbb_group_destroy(group) }

        func suspend() {}

        func resume() {}

        // MARK: Operations

        @inline(__always)
        private func submit(_ operation: Int) {
            body.willSubmit(operation)
            conetbb_group_run(group, operation)
            body.didSubmit(operation)
        }

        @inline(__always)
        private func run(_ operation: Int) {
            body.run(operation)
            if let batches {
                if batches.didEnd(operation, body) { batches.submitNext(operation) { submit($0) } }
                return
            }
            if let successors { _ = successors.release(after: operation) { submit($0) } }
            if body.wantsNotification(operation), plan.hasCompletionBlocks { body.didNotify(operation) }
        }

        private func inArena(_ work: () -> Void) {
            withoutActuallyEscaping(work) { work in
                withUnsafePointer(to: work) { work in
                    conetbb_group_enter(
                        group, { $0!.assumingMemoryBound(to: (() -> Void).self).pointee() },
                        UnsafeMutableRawPointer(mutating: work))
                }
            }
        }
    }
#endif
