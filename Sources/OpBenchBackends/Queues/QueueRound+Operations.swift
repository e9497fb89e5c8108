import Dispatch
import OpBenchModel

// MARK: - Submitting

extension QueueRound {
    func submitEach(_ part: Range<Int>) {
        begin(part.count)
        let body = body
        guard placeCount == 1 else {
            for operation in part {
                body.willSubmit(operation)
                let queue = place(of: operation)
                queue { submit(operation, to: $0) }
                body.didSubmit(operation)
            }
            return
        }
        let queue = queues[0]
        if isPlain, !body.takesStamps {
            for operation in part { queue.submit(plainWork(operation)) }
        } else {
            for operation in part {
                body.willSubmit(operation)
                submit(operation, to: queue)
                body.didSubmit(operation)
            }
        }
    }

    @inline(__always)
    func submit(_ operation: Int, to queue: Queue) {
        guard notifies(operation) else { return queue.submit(work(operation)) }
        if Queue.hasCompletionBlocks {
            queue.submit(work(operation), thenNotify: notifications.block(operation, body))
        } else {
            queue.submit(work(operation, notifies: true))
        }
    }

    func submitTogether(_ part: Range<Int>) {
        begin(part.count)
        let queue = queues[0]
        body.submitTogether(part, in: plan) {
            for operation in part { submit(operation, to: queue) }
        }
    }

    func submit(_ part: Range<Int>, _ barriers: Barriers) {
        let (round, queue) = (Unretained(self), queues[0])
        begin(part.count)
        for operation in part {
            body.willSubmit(operation)
            if barriers.isBarrier(operation) {
                queue.submitBarrier {
                    round {
                        $0.body.runBarrier(operation)
                        $0.end()
                    }
                }
            } else {
                queue.submit {
                    round {
                        $0.body.runBesideOthers(operation)
                        $0.end()
                    }
                }
            }
            body.didSubmit(operation)
        }
    }

    func submitBatch(_ operation: Int, of batches: CountedBatches) {
        let (round, queue) = (Unretained(self), queues[0])
        batches.submitNext(operation) { operation in
            if !Queue.isTrusted { begin(1) }
            body.willSubmit(operation)
            queue.submit { round { $0.runOfBatch(operation) } }
            body.didSubmit(operation)
        }
    }

    private func runOfBatch(_ operation: Int) {
        guard let batches else { return ranLate() }
        body.run(operation)
        if batches.didEnd(operation, body) { submitBatch(operation, of: batches) }
        if !Queue.isTrusted { end() }
    }

    /// Submits an operation that waits for nothing any more. Other operations call it as well: the call returns before
    /// its operation ends, and `drain` waits for both.
    func submitReady(_ operation: Int) {
        let queue = place(of: operation)
        if body.takesStamps {
            queue { submitStamped(operation, to: $0) }
        } else {
            let round = Unretained(self)
            queue { $0.submit { round { $0.runAndRelease(operation) } } }
        }
    }

    @inline(never)
    private func submitStamped(_ operation: Int, to queue: Queue) {
        let round = Unretained(self)
        let work: Work = { round { $0.runAndRelease(operation) } }
        // The operation may end before this call has returned; `drain` must not.
        if Queue.isTrusted { ends.begin(1) }
        body.willSubmit(operation)
        if Queue.hasCompletionBlocks, body.wantsNotification(operation) {
            queue.submit(work, thenNotify: notifications.block(operation, body))
        } else {
            queue.submit(work)
        }
        body.didSubmit(operation)
        if Queue.isTrusted { ends.end() }
    }

    @inline(__always)
    private func runAndRelease(_ operation: Int) {
        guard let successors else { return ranLate() }
        body.run(operation)
        let isLast = successors.release(after: operation) { submitReady($0) }
        if !Queue.hasCompletionBlocks, body.wantsNotification(operation) { body.didNotify(operation) }
        if isLast || !Queue.isTrusted { ends.end() }
    }

    /// Recorded operations arrive, and get into the queue once nothing that they follow is unfinished.
    func arrive(_ part: Range<Int>, _ successors: Successors) {
        for operation in part {
            body.willSubmit(operation)
            if successors.arrive(operation) { submitArrived(operation) }
            body.didSubmit(operation)
        }
    }

    private func submitArrived(_ operation: Int) {
        let round = Unretained(self)
        let queue = place(of: operation)
        let work: Work = { round { $0.runArrived(operation) } }
        guard Queue.hasCompletionBlocks, body.wantsNotification(operation) else { return queue { $0.submit(work) } }
        queue { $0.submit(work, thenNotify: notifications.block(operation, body)) }
    }

    private func runArrived(_ operation: Int) {
        guard let successors else { return ranLate() }
        if case .flag(let flags, _) = extra, flags.isSet(operation) {
            body.didEndCancelled(operation)
        } else {
            body.run(operation)
        }
        if !Queue.hasCompletionBlocks, body.wantsNotification(operation) { body.didNotify(operation) }
        _ = successors.release(after: operation) { submitArrived($0) }
        // All its calls have returned.
        ends.end()
    }

    @inline(__always)
    private func place(of operation: Int) -> Unretained<Queue> {
        if placeCount == 1 { return places[0] }
        return places[plan.isAcrossQueues ? plan.queueIndex(of: operation) : operation % placeCount]
    }
}

// MARK: - Operations

extension QueueRound {
    /// Counts the ends although the queue could wait.
    func countEnds() { counts = true }

    /// More operations will be submitted.
    @inline(__always)
    func begin(_ count: Int) { if counts { ends.begin(count) } }

    /// The last act of an operation. Nothing of the round may be touched after it.
    @inline(__always)
    func end() { if counts { ends.end() } }

    /// Whether a stamped sample times the report of the operation's end.
    @inline(__always)
    func notifies(_ operation: Int) -> Bool { body.wantsNotification(operation) && plan.hasCompletionBlocks }

    @inline(__always)
    func work(_ operation: Int, notifies: Bool = false) -> Work {
        if isPlain, !notifies { return plainWork(operation) }
        return extraWork(operation, notifies)
    }

    /// An operation as a closure of 16 bytes: its number and this object.
    @inline(__always)
    func plainWork(_ operation: Int) -> Work {
        let round = Unretained(self)
        return {
            round {
                $0.body.run(operation)
                $0.end()
            }
        }
    }

    @inline(never)
    private func extraWork(_ operation: Int, _ notifies: Bool) -> Work {
        let round = Unretained(self)
        switch extra {
        case .payload(let bytes):
            nonisolated(unsafe) let payload: AnyObject = Payload.make(bytes: bytes)
            return {
                round {
                    $0.body.run(operation)
                    withExtendedLifetime(payload) {}
                    $0.end(operation, notifies)
                }
            }
        case .observers(let count):
            let observers = (0..<count).map { _ in { @Sendable in round { $0.body.didNotice(operation) } } }
            return {
                round {
                    $0.body.run(operation)
                    for observer in observers { observer() }
                    $0.end(operation, notifies)
                }
            }
        case .flag(let flags, let step):
            let flags = Unretained(flags)
            return {
                round {
                    if $0.isOver { return $0.ranLate() }
                    if flags({ $0.isSet(operation * step) }) {
                        $0.body.didEndCancelled(operation)
                    } else {
                        $0.body.run(operation)
                    }
                    $0.end(operation, notifies)
                }
            }
        case .signal(let signals) where operation % 2 == 1:
            let signal = signals[operation / 2]
            return {
                round {
                    $0.body.run(operation)
                    signal.signal()
                    $0.end(operation, notifies)
                }
            }
        case .signal, .nothing:
            return {
                round {
                    $0.body.run(operation)
                    $0.end(operation, notifies)
                }
            }
        }
    }

    @inline(__always)
    private func end(_ operation: Int, _ notifies: Bool) {
        if notifies { body.didNotify(operation) }
        end()
    }
}
