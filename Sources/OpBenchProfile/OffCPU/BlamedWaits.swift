import OpBenchModel

/// Waits by the function that waits and the wake-up that is to blame.
///
/// A function is the innermost one that is answerable for its work. Of threads that wait for a lock, the first to be woken
/// wakes the next: if the waker had itself waited for another thread for half of the wait or more, but not for work, the
/// one that woke it is to blame.
struct BlamedWaits {
    struct Key: Hashable {
        var function: String
        /// The group of the operation in whose body the thread waited.
        var group: String?
        /// Nil if no thread of the process ended the wait, or it is unknown.
        var waker: String?
        /// The group of the operation in whose body the waker was.
        var wakerGroup: String?

        /// The function, or the operation's body if no function of its own shows.
        var place: String {
            function == BlamedWaits.lostBody ? group.map { "the body of \($0)" } ?? function : function
        }
    }

    struct Sum {
        var key: Key
        var time: Int64 = 0
        var count = 0
    }

    /// A function that itself calls one of the C library without a frame is missing from the stack.
    private static let lostBody = "the body itself"

    /// The time of the queue's own threads, which wait in no body, for work.
    private(set) var idle: Int64 = 0
    private var waits: [(key: Key, time: Int64)] = []
    private let stacks: StackProfile
    private let classifier: FrameClassifier
    /// By stack, the function, whether the thread is the queue's own as far as it shows, and whether no function is
    /// answerable.
    private var places: [UInt32: (function: String, isQueue: Bool, isLost: Bool)] = [:]

    /// - Parameter bodies: nil without a recording of the program.
    init(_ profile: OffCPU, _ bodies: RecordedBodies?, _ classifier: FrameClassifier) {
        (stacks, self.classifier) = (profile.blocked, classifier)
        var isIdle: [Bool] = []
        for wait in profile.waits {
            let place = place(of: wait.stack)
            let group = bodies?.group(of: wait.thread, at: wait.begin)
            isIdle.append(place.isQueue && group == nil)
            if isIdle[isIdle.count - 1] {
                idle.addClamped(wait.length)
                continue
            }
            var blamed = wait
            while let index = blamed.waker?.wait, !isIdle[index], profile.waits[index].waker != nil {
                let before = profile.waits[index]
                let shared = min(wait.end, before.end).length(since: max(wait.begin, before.begin))
                if shared < wait.end.length(since: wait.begin) / 2 { break }
                blamed = before
            }
            let key = Key(
                function: group != nil && (place.isQueue || place.isLost) ? Self.lostBody : place.function,
                group: group,
                waker: blamed.waker.map { self.place(of: $0.stack).function },
                wakerGroup: blamed.waker.flatMap { bodies?.group(of: $0.thread, at: blamed.end) })
            waits.append((key, wait.length))
        }
    }

    /// The sums of waits by a part of their keys, the greatest first.
    ///
    /// - Parameter part: nil for waits that do not count.
    func sums(by part: (Key) -> Key?) -> [Sum] {
        var sums: [Key: Sum] = [:]
        for wait in waits {
            guard let key = part(wait.key) else { continue }
            sums[key, default: Sum(key: key)].time.addClamped(wait.time)
            sums[key]?.count += 1
        }
        func order(_ sum: Sum) -> (Int64, String, String, String, String) {
            (-sum.time, sum.key.function, sum.key.group ?? "", sum.key.waker ?? "", sum.key.wakerGroup ?? "")
        }
        return sums.values.sorted { order($0) < order($1) }
    }

    private mutating func place(of stack: UInt32) -> (function: String, isQueue: Bool, isLost: Bool) {
        if let known = places[stack] { return known }
        let frames = stacks.stack(stack).map { stacks.frames[Int($0)] }
        let classes = frames.map { classifier.classify($0) }
        let answerable = frames.lastIndex { classifier.isAnswerable($0) }
        let innermost =
            answerable
            ?? classes.lastIndex { ![.kernel, .futex, .libc, .unknown].contains($0) }
            // Where the chain of callers is broken, the C library's function.
            ?? classes.lastIndex { $0 != .kernel }
        let hasQueue = classes.contains { if case .queue = $0 { true } else { false } }
        let hasOthers = frames.indices.contains { index in
            classes[index] == .workload
                || classes[index] == .library && !classifier.isOfEngine(frames[index])
                    && !classifier.isOfDispatch(frames[index])
        }
        let place = (
            function: (innermost.map { frames[$0] } ?? frames.last)?.name ?? "[no stack]",
            isQueue: hasQueue && !hasOthers, isLost: answerable == nil
        )
        places[stack] = place
        return place
    }
}
