/// The bits of an operation's state word.
extension OperationState {
    /// A snapshot of the word.
    struct Word: Equatable {
        var bits: UInt64

        static let phaseMask: UInt64 = 0b1111
        static let cancelled: UInt64 = 1 << 4
        static let hasWaiters: UInt64 = 1 << 5
        static let hasCompletion: UInt64 = 1 << 6
        /// The class overrides `isFinished`, which is asked whether the operation has ended with its `main` (contract
        /// C14). Set when the operation enters a queue, or is started by hand.
        static let hasOwnEnd: UInt64 = 1 << 7
        static let levelShift: UInt64 = 8
        /// A dependency was added. The thread whose step has set this adds the first entry of `dependencyEdges`.
        static let hasDependencies: UInt64 = 1 << 11
        static let bandShift: UInt64 = 12
        /// The class overrides `isReady`, and the engine asks that instead of the dependencies (contract F). Set when
        /// the operation enters a queue, or before that with its first dependency, once there is an `ObserverList`
        /// (F8).
        static let hasOwnReadiness: UInt64 = 1 << 16
        /// Its runner cannot simply run it from start to end, because `start`, `isReady` or `isFinished` is overridden,
        /// or the work is a task. When it is chosen, the queue keeps it in a list, and it leaves the queue by itself.
        static let isGuest: UInt64 = 1 << 17
        /// There are, or were, observers. Every transition from here on is announced (contract D18, D21).
        static let hasObservers: UInt64 = 1 << 18
        /// Since an overridden `isReady` was last asked, something may have changed its answer.
        static let isAnswerOutdated: UInt64 = 1 << 19
        /// Tasks await the end, or did. The finishing thread resumes them.
        static let hasAwaiters: UInt64 = 1 << 20
        /// The work is a task. The operation continues after `start` has returned, and ends with the task.
        static let runsAsTask: UInt64 = 1 << 21
        /// It failed. The details hold the error.
        static let hasFailed: UInt64 = 1 << 22
        /// It was skipped because a dependency did not succeed. The details hold the reason.
        static let isSkipped: UInt64 = 1 << 23
        /// Two bits, a `DependencyFailurePolicy`.
        static let policyShift: UInt64 = 24
        static let policyMask: UInt64 = 0b11 << policyShift
        /// The policy counts cancelled dependencies among the failed ones.
        static let countsCancelled: UInt64 = 1 << 26
        /// A runner has started it as a guest. When it ends, it leaves the queue (contract C6).
        static let isStartedGuest: UInt64 = 1 << 27
        /// Someone other than its maker has read the blocks or added one. From here on a lock guards them.
        static let sharesBlocks: UInt64 = 1 << 28
        /// Its overridden `start` has gone on on another thread, and runs it there (contract B9).
        static let runsElsewhere: UInt64 = 1 << 29
        /// A start by hand is asking its overridden `isReady`.
        static let isAskedByStart: UInt64 = 1 << 30
        /// It carries a barrier's block. Set in its init.
        static let isBarrier: UInt64 = 1 << 31
        /// The engine has done its part of an operation with `hasOwnEnd`: `main` has returned. From here on the end
        /// depends on the overridden `isFinished` alone.
        static let isEnding: UInt64 = 1 << 32
        /// The overridden `isFinished` was seen to be true without an announcement: see
        /// `Operation.watchUnannouncedEnd`.
        static let isEndWatched: UInt64 = 1 << 33
        /// It is an instance of `BlockOperation` itself, so nothing is overridden. Set in its init. Spares the most common
        /// class looking for overrides.
        static let isPlainBlock: UInt64 = 1 << 34
        /// The thread that has taken the operation out of a `SuccessorList`, where it was without an edge, or has
        /// cleared the last bit of its `GraphNode`, no longer uses it.
        static let isReleased: UInt64 = 1 << 35
        static let dependencyShift: UInt64 = 36
        static let oneDependency: UInt64 = 1 << dependencyShift

        /// With one of these a start takes more than running `main`.
        static let startsWithCare = runsAsTask | policyMask
        /// With one of these its runner has more to do than to call `main`, or `main` may be left out.
        static let startsApart = isGuest | hasObservers | cancelled | startsWithCare
        /// With one of these an end takes more than releasing the operation, if its queue has no observers.
        static let endsNoticed =
            hasObservers | hasCompletion | hasWaiters | hasAwaiters | hasOwnReadiness | startsWithCare | isBarrier

        var phase: Phase {
            // The cases have the raw values 0, 1, 2 … in the order of their declaration, which is how an enumeration
            // without associated values is represented; `init(rawValue:)` would be a call.
            @inline(__always)
            get { unsafeBitCast(UInt8(truncatingIfNeeded: bits & Self.phaseMask), to: Phase.self) }
            set { bits = bits & ~Self.phaseMask | newValue.rawValue }
        }
        var isCancelled: Bool { bits & Self.cancelled != 0 }
        var isFinished: Bool { phase == .finished }
        /// Whether it was added to a queue, and has not begun.
        var isPublished: Bool { (Phase.enqueued.rawValue...Phase.ready.rawValue).contains(phase.rawValue) }
        var unfinishedDependencies: UInt64 { bits >> Self.dependencyShift }
        /// Ready by the engine's own rules: no unfinished dependency, or cancelled (contract B8, J4).
        var isReady: Bool { unfinishedDependencies == 0 || isCancelled }
        /// Ready, and no `isReady` has to be asked.
        var isReadyUnasked: Bool { isReady && bits & Self.hasOwnReadiness == 0 }
        /// Whether the finishing thread takes the operation out of its queue, because no runner will.
        var leavesQueueByItself: Bool { has(Self.isStartedGuest) }
        /// Whether its queue has started the operation, and nothing but an announcement ends it. While the engine's own
        /// `start` runs `main`, the engine will ask by itself.
        var awaitsAnnouncement: Bool {
            has(Self.isStartedGuest) && (phase == .dispatched || phase == .executing && has(Self.isEnding))
        }
        /// Whether that starter may start the operation, which was chosen. A guest may be started once its runner calls
        /// its `start`.
        func isToBeStarted(by starter: OperationState.Starter) -> Bool {
            has(Self.isGuest) ? has(Self.isStartedGuest) && starter != .hand : starter == .runner
        }
        /// Whether the end of a dependency is not only counted. Observers are notified. The last one also makes the
        /// engine ask the overridden `isReady` of an operation in no queue (contract F8).
        var isToldOfDependency: Bool {
            has(Self.hasObservers | Self.hasOwnReadiness)
                && (has(Self.hasObservers) || phase == .idle && unfinishedDependencies == 1)
        }
        func outdatingAnswer() -> Word { setting(Self.isAnswerOutdated) }
        /// Whether an operation of the ready list may be chosen, and a change of its priority moves it.
        var isToBeDispatched: Bool { phase == .ready || phase == .enqueued && isReadyUnasked }
        /// The word of an operation that a runner chooses. If nothing precedes `main`, the operation begins in the same
        /// step: a cancellation that comes after it finds the operation executing (contract J3, J13).
        var chosen: Word { entering(has(Self.startsApart) ? .dispatched : .executing) }
        /// Whether nothing holds the operation back in its queue but one dependency. When that goes, the operation is
        /// filed: its place in the order counts from then on, even if it was ready before (contract G6).
        var isHeldByOne: Bool {
            let holding = Self.phaseMask | Self.cancelled | Self.hasOwnReadiness | ~0 << Self.dependencyShift
            return bits & holding == Phase.enqueued.rawValue | Self.oneDependency
        }
        var level: PriorityLevel {
            get { PriorityLevel(rawValue: UInt8(truncatingIfNeeded: bits >> Self.levelShift & 0b111)) }
            set { bits = bits & ~(0b111 << Self.levelShift) | UInt64(newValue.rawValue) << Self.levelShift }
        }
        /// Whether it may go before ready operations of normal priority and band that were added before.
        var isUrgent: Bool { level.rawValue > PriorityLevel.normal.rawValue || band != .normal }
        var band: NiceBand {
            get { NiceBand(index: Int(truncatingIfNeeded: bits >> Self.bandShift & 0b1111)) }
            set { bits = bits & ~(0b1111 << Self.bandShift) | UInt64(newValue.index) << Self.bandShift }
        }

        var policy: DependencyFailurePolicy {
            DependencyFailurePolicy(rawValue: UInt8(truncatingIfNeeded: (bits & Self.policyMask) >> Self.policyShift))
                ?? .run
        }

        /// Whether it ended without success, by the policy of a dependent.
        func hasNotSucceeded(countingCancelled: Bool) -> Bool {
            isFinished && (bits & (Self.hasFailed | Self.isSkipped) != 0 || countingCancelled && isCancelled)
        }

        /// The word with one unfinished dependency less, in the phase `filing` if that makes the operation ready.
        func droppingDependency() -> Word {
            let next = Word(bits: bits &- Self.oneDependency).outdatingAnswer()
            return phase == .waiting || isHeldByOne ? next.entering(.filing) : next
        }

        func has(_ flag: UInt64) -> Bool { bits & flag != 0 }
        func setting(_ flag: UInt64) -> Word { Word(bits: bits | flag) }
        func entering(_ phase: Phase) -> Word {
            var next = self
            next.phase = phase
            return next
        }
    }
}

/// The index of a queue priority, from 0 (very low) to 4 (very high), and one level above them.
struct PriorityLevel: Equatable {
    let rawValue: UInt8

    /// Cancelled operations that finish without main and take no slot (contract J9).
    static let slotless = PriorityLevel(rawValue: 5)
    static let normal = PriorityLevel(rawValue: 2)
    static let lowest = PriorityLevel(rawValue: 0)
}

/// The fate of an operation when one of its dependencies did not succeed: it failed or was skipped, or, if the
/// operation asks for it, was cancelled (contract X2).
public enum DependencyFailurePolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// The operation runs, and its code decides.
    case run
    /// It finishes without `main`. It did not fail and is not cancelled. Its ending is `skipped`, which dependents with
    /// a policy of their own treat as a failure.
    case skip
    /// It finishes without `main`, and has failed with a `DependencyFailure`.
    case fail
}
