import OpBenchModel

/// A program's recording as a load to replay.
public struct ReplayedRecording: Sendable {
    /// A recorded queue. Its index in `queues` is its number in the load.
    public struct Queue: Sendable, Equatable {
        public var name: String
        /// Nil for the default.
        public var limit: Int?
        public var operations: Int
    }

    /// A class in a queue. Its index in `groups` is its number in the load.
    public struct Group: Sendable, Equatable {
        public var name: String
        public var operations: Int
    }

    public let load: RecordedLoad
    /// In the order of their first operations.
    public let queues: [Queue]
    /// In the order of their first operations. If there are too many, the last one contains the rest.
    public let groups: [Group]
    /// The differences between the recording and the load, one sentence each.
    public let notes: [String]

    /// Takes the first operations of a recording, as many as a workload may have.
    ///
    /// - Parameters:
    ///   - path: the recording's file, for errors.
    ///   - keepsNames: whether the load has the names of its groups. Otherwise it has no names.
    ///   - limit: the maximum number of operations.
    /// - Throws: `InputError` if nothing can be replayed.
    public init(
        _ recording: Recording, path: String, keepsNames: Bool = false, limit: Int = RecordedLoad.operationLimit
    ) throws(InputError) {
        var draft = Draft(recording)
        draft.choose(limit: min(limit, RecordedLoad.operationLimit))
        guard !draft.kept.isEmpty else {
            throw InputError(
                file: path, message: "no operation was added to a queue in this part of the recording",
                remedy: "choose another part by --from, --to and --queue, or record for longer")
        }
        guard draft.queues.count <= RecordedLoad.queueLimit else {
            throw InputError(
                file: path, message: "\(draft.queues.count) queues have operations",
                remedy: "a workload has at most \(RecordedLoad.queueLimit); name one by --queue")
        }
        guard let load = draft.load(keepsNames: keepsNames) else {
            throw InputError(
                file: path, message: "operations depend on one another in a circle",
                remedy: "choose another part by --from and --to")
        }
        self.load = load
        (queues, groups) = (draft.queues, draft.groups)
        notes = draft.notes
    }
}

/// The state while a load is made.
private struct Draft {
    let recording: Recording
    /// Indices of the operations to replay.
    private(set) var kept: [Int] = []
    private(set) var queues: [ReplayedRecording.Queue] = []
    private(set) var groups: [ReplayedRecording.Group] = []
    /// The numbers of groups, by queue and class.
    private var groupNumbers: [[Int]: Int] = [:]
    /// The numbers of queues in the load, by their index in the recording.
    private var numbers: [Int?]
    private var (unknown, unfinished, uncancelled) = (0, 0, 0)

    init(_ recording: Recording) {
        self.recording = recording
        numbers = [Int?](repeating: nil, count: recording.trace.queues.count)
    }

    private var operations: [TracedOperation] { recording.trace.operations }

    /// Takes the first operations that were added to a queue, within the longest time of a round.
    mutating func choose(limit: Int) {
        let operations = operations
        var first: TraceTime?
        for (index, operation) in operations.enumerated() where Int(operation.queue) < numbers.count {
            let begun = first ?? operation.submit
            first = begun
            if kept.count == limit || operation.submit - begun > Int64(RecordedLoad.timeLimit) { break }
            kept.append(index)
            let queue = Int(operation.queue)
            if numbers[queue] == nil {
                numbers[queue] = queues.count
                let recorded = recording.trace.queues[queue]
                queues.append(.init(name: recorded.name, limit: RecordedLoad.limit(recorded.limit), operations: 0))
            }
            queues[numbers[queue]!].operations += 1
        }
    }

    /// Makes the load; nil if dependencies form a circle.
    mutating func load(keepsNames: Bool) -> RecordedLoad? {
        let operations = operations
        let groupOf = kept.map { group(of: operations[$0]) }
        var places = [Int?](repeating: nil, count: operations.count)
        var builder = RecordedLoad.Builder(
            limits: queues.map(\.limit), groupNames: keepsNames ? RecordedLoad.groupNames(groups.map(\.name)) : [])
        var last: TraceTime?
        for (place, index) in kept.enumerated() {
            places[index] = place
            let operation = operations[index]
            let (work, wait) = body(of: operation, recording.details[index])
            builder.add(
                gap: Int(max(0, operation.submit - (last ?? operation.submit))), work: work, wait: wait,
                queue: numbers[Int(operation.queue)]!, priority: RecordedLoad.priority(Int(operation.priority)),
                group: groupOf[place],
                latency: operation.wasExecuted ? RecordedLoad.time(operation.end - operation.submit) : 0)
            last = max(last ?? operation.submit, operation.submit)
        }
        addDependencies(places, to: &builder)
        for (place, index) in kept.enumerated() where recording.details[index].isCancelled {
            let instant = recording.details[index].cancelTime
            if instant == .absent {
                uncancelled += 1
            } else {
                builder.addCancellation(of: place, after: RecordedLoad.time(instant - operations[index].submit))
            }
        }
        let load = builder.load
        return load.hasCircle ? nil : load
    }

    /// Counts the operation in its group.
    private mutating func group(of operation: TracedOperation) -> Int {
        let key = [Int(operation.queue), Int(operation.operationClass)]
        let number = groupNumbers[key] ?? min(groups.count, RecordedLoad.groupLimit - 1)
        if groupNumbers[key] == nil, number < groups.count { groups[number].name = "others" }
        groupNumbers[key] = number
        if number == groups.count {
            let queue = queues[numbers[Int(operation.queue)]!].name
            groups.append(.init(name: "\(recording.trace.className(of: operation)) in \(queue)", operations: 0))
        }
        groups[number].operations += 1
        return number
    }

    private func addDependencies(_ places: [Int?], to builder: inout RecordedLoad.Builder) {
        var edges = recording.trace.dependencies.compactMap { dependency -> (Int, Int)? in
            guard let operation = places[Int(dependency.successor)],
                let predecessor = places[Int(dependency.predecessor)]
            else { return nil }
            return (operation, predecessor)
        }
        edges.sort { $0 < $1 }
        var previous: (Int, Int)?
        for edge in edges.prefix(RecordedLoad.dependencyLimit) where previous.map({ $0 != edge }) ?? true {
            builder.addDependency(of: edge.0, on: edge.1)
            previous = edge
        }
    }

    /// The CPU time of a body, and the time in which it neither ran nor waited for a processor.
    private mutating func body(of operation: TracedOperation, _ detail: RecordedOperation) -> (work: Int, wait: Int) {
        guard operation.wasExecuted else {
            if !detail.isCancelled { unfinished += 1 }
            return (0, 0)
        }
        let elapsed = operation.end - operation.start
        if detail.processorTime == .absent { unknown += 1 }
        let work = min(elapsed, detail.processorTime == .absent ? 0 : detail.processorTime)
        return (RecordedLoad.time(work), RecordedLoad.time(elapsed - work - operation.knownProcessorWait))
    }

    /// A sentence for each difference between the recording and the load.
    var notes: [String] {
        let rest = operations.count - kept.count
        let barriers = kept.count { recording.details[$0].isBarrier }
        let suspensions = recording.trace.spans.count { $0.kind == .suspension }
        let all: [(Int, String)] = [
            (rest, "operations are left out: a workload has at most \(RecordedLoad.operationLimit), in 10 minutes"),
            (recording.partialOperations, "operations are left out, because the recording lacks their submission"),
            (recording.missingParts, "earlier parts of the recording are missing"),
            (recording.lostEvents, "events are missing, which the recorder lost"),
            (unfinished, "operations had not ended, and have no work here"),
            (unknown, "operations ended on another thread: their whole time is a wait here"),
            (uncancelled, "operations were cancelled at an unknown time, and are not cancelled here"),
            (barriers, "barriers are plain operations here"),
            (suspensions, "suspensions are left out"),
        ]
        return all.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)." }
    }
}
