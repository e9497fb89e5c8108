/// The operations that a program added to its queues, in the order of their arrival: the instant, the queue, the
/// dependencies and the body of each. It has no names of the program, except those of groups if they are kept.
///
/// A load consists of columns of whole numbers. Workload files have each column as packed text. Two loads are equal if
/// their digests are.
public struct RecordedLoad: Sendable {
    /// A column. The raw value is its key in files. Columns of one subject have the same length.
    public enum Column: String, Sendable, CaseIterable, Codable {
        /// The limit of each queue; 0 for the default.
        case limits
        /// The time from the previous arrival, which is 0 for the first.
        case gaps = "gaps_ns"
        /// The processor time of the body.
        case work = "cpu_ns"
        /// The time for which the body neither ran nor waited for a processor.
        case waits = "wait_ns"
        case queues = "queue"
        /// The raw queue priority.
        case priorities = "priority"
        /// The number of its group. A group is a class in a queue, and has figures of its own.
        case groups = "group"
        /// The recorded time from its arrival to its end; 0 if it did not run.
        case latencies = "latency_ns"
        /// For each dependency, the number of the waiting operation less that of the dependency before.
        case dependencySteps = "dependency_steps"
        /// For each dependency, the number of the waiting operation less that of its predecessor; negative if the
        /// predecessor arrived later.
        case dependencyDistances = "dependency_distances"
        /// For each cancellation, the number of the operation less that of the cancellation before.
        case cancellationSteps = "cancellation_steps"
        /// For each cancellation, the time from the operation's arrival to the call.
        case cancellationDelays = "cancellation_delays_ns"
    }

    /// The digest of all columns and names, 12 hexadecimal digits. In cell ids, it represents the load.
    public let digest: String
    private let columns: [Column: [Int]]
    /// The names of the groups, by number. Empty if the groups have no names.
    public let groupNames: [String]
    public let operationCount: Int

    static let namesKey = "group_names"

    /// - Parameter columns: checked columns; an absent one has its usual values.
    init(checked columns: [Column: [Int]], groupNames: [String] = []) {
        var columns = columns
        self.groupNames = groupNames
        operationCount = columns[.gaps]?.count ?? 0
        for column in Column.allCases where columns[column] == nil {
            let count = column.subject == .operation ? operationCount : column.subject == .queue ? 1 : 0
            columns[column] = [Int](repeating: 0, count: count)
        }
        self.columns = columns
        let texts = Self.packed(columns) + groupNames
        digest = String(SHA256.hexadecimal(of: Array(texts.joined(separator: "\n").utf8)).prefix(12))
    }

    public subscript(column: Column) -> [Int] { columns[column] ?? [] }

    /// The limits of the queues; nil for the default.
    public var limits: [Int?] { self[.limits].map { $0 == 0 ? nil : $0 } }

    /// The pairs of a waiting operation and its predecessor.
    var dependencies: [DependencyGraph.Edge] {
        var operation = 0
        return zip(self[.dependencySteps], self[.dependencyDistances]).map { step, distance in
            operation += step
            return DependencyGraph.Edge(operation: operation, predecessor: operation - distance)
        }
    }

    /// The cancelled operations, ascending, and the times from their arrivals to the calls.
    var cancellations: [(operation: Int, delay: Int)] {
        var operation = 0
        return zip(self[.cancellationSteps], self[.cancellationDelays]).map { step, delay in
            operation += step
            return (operation, delay)
        }
    }

    /// The time from the first arrival to the last, in nanoseconds.
    var span: Int { self[.gaps].reduce(0, +) }

    /// The load of one queue. Dependencies between operations of different queues are left out.
    func of(queue: Int) -> RecordedLoad {
        let kept = self[.queues].indices.filter { self[.queues][$0] == queue }
        var number = [Int](repeating: -1, count: operationCount)
        for (new, old) in kept.enumerated() { number[old] = new }
        var builder = Builder(limits: [limits[queue]], groupNames: groupNames)
        var (instant, last) = (0, 0)
        let instants = self[.gaps].map { gap in
            instant += gap
            return instant
        }
        for (new, old) in kept.enumerated() {
            builder.add(
                gap: new == 0 ? 0 : instants[old] - last, work: self[.work][old], wait: self[.waits][old], queue: 0,
                priority: self[.priorities][old], group: self[.groups][old], latency: self[.latencies][old])
            last = instants[old]
        }
        for edge in dependencies where number[edge.operation] >= 0 && number[edge.predecessor] >= 0 {
            builder.addDependency(of: number[edge.operation], on: number[edge.predecessor])
        }
        for (operation, delay) in cancellations where number[operation] >= 0 {
            builder.addCancellation(of: number[operation], after: delay)
        }
        return builder.load
    }

    /// Builds a load, operation by operation.
    package struct Builder {
        private var columns: [Column: [Int]]
        private let groupNames: [String]
        private var (lastWaiting, lastCancelled) = (0, 0)

        package init(limits: [Int?], groupNames: [String] = []) {
            columns = [.limits: limits.map { $0 ?? 0 }]
            self.groupNames = groupNames
        }

        package mutating func add(
            gap: Int, work: Int, wait: Int, queue: Int, priority: Int, group: Int = 0, latency: Int = 0
        ) {
            columns[.gaps, default: []].append(gap)
            columns[.work, default: []].append(work)
            columns[.waits, default: []].append(wait)
            columns[.queues, default: []].append(queue)
            columns[.priorities, default: []].append(priority)
            columns[.groups, default: []].append(group)
            columns[.latencies, default: []].append(latency)
        }

        /// Call it in ascending order of `operation`.
        package mutating func addDependency(of operation: Int, on predecessor: Int) {
            columns[.dependencySteps, default: []].append(operation - lastWaiting)
            columns[.dependencyDistances, default: []].append(operation - predecessor)
            lastWaiting = operation
        }

        /// Call it in ascending order of `operation`.
        package mutating func addCancellation(of operation: Int, after delay: Int) {
            columns[.cancellationSteps, default: []].append(operation - lastCancelled)
            columns[.cancellationDelays, default: []].append(delay)
            lastCancelled = operation
        }

        package var load: RecordedLoad { RecordedLoad(checked: columns, groupNames: groupNames) }
    }
}

extension RecordedLoad: Hashable {
    public static func == (left: RecordedLoad, right: RecordedLoad) -> Bool { left.digest == right.digest }
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

// MARK: - Columns

extension RecordedLoad.Column {
    /// The kinds of thing that a column describes, with one number for each thing.
    enum Subject: String { case queue, operation, dependency, cancellation }

    var subject: Subject {
        switch self {
        case .limits: .queue
        case .gaps, .work, .waits, .queues, .priorities, .groups, .latencies: .operation
        case .dependencySteps, .dependencyDistances: .dependency
        case .cancellationSteps, .cancellationDelays: .cancellation
        }
    }

    /// The maximum length of a column.
    var countLimit: Int {
        switch subject {
        case .queue: RecordedLoad.queueLimit
        case .operation, .cancellation: RecordedLoad.operationLimit
        case .dependency: RecordedLoad.dependencyLimit
        }
    }

    var range: ClosedRange<Int> {
        switch self {
        case .limits: 0...ShapeDefinition.concurrencyLimit
        case .gaps, .work, .waits, .latencies, .cancellationDelays: 0...RecordedLoad.timeLimit
        case .queues: 0...RecordedLoad.queueLimit - 1
        case .groups: 0...RecordedLoad.groupLimit - 1
        case .priorities: -8...8
        case .dependencySteps, .cancellationSteps: 0...RecordedLoad.operationLimit
        case .dependencyDistances: -RecordedLoad.operationLimit...RecordedLoad.operationLimit
        }
    }

    /// The allowed numbers, in words.
    var allowed: String {
        self == .priorities
            ? "one of -8, -4, 0, 4, 8" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
    }

    func allows(_ number: Int) -> Bool { range.contains(number) && (self != .priorities || number % 4 == 0) }
}

extension RecordedLoad {
    /// The maximum number of operations; more do not fit in a workload file.
    public static let operationLimit = 100_000
    package static let queueLimit = 64
    package static let groupLimit = 64
    package static let dependencyLimit = 1_000_000
    /// The maximum duration of a body, and of all arrivals together, in nanoseconds.
    package static let timeLimit = Int(ShapeDefinition.secondsLimit * 1e9)
    static let requiredColumns: [Column] = [.gaps, .work]
}

// MARK: - Values of a program

extension RecordedLoad {
    /// Makes names of groups from a program's names: unique, on one line, and not too long.
    package static func groupNames(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.enumerated().map { number, name in
            let line = name.unicodeScalars.prefix(nameLimit).map { $0.value < 0x20 ? " " : $0 }
            var own = String(String.UnicodeScalarView(line))
            while own.isEmpty || !seen.insert(own).inserted { own += " (group \(number))" }
            return own
        }
    }

    private static let nameLimit = 150

    /// A program's limit within the bounds of a workload.
    package static func limit(_ limit: Int?) -> Int? { limit.map { max(1, min($0, ShapeDefinition.concurrencyLimit)) } }

    /// The nearest of the five priorities.
    package static func priority(_ raw: Int) -> Int { max(-8, min(8, Int((Double(raw) / 4).rounded()) * 4)) }

    /// A time in nanoseconds within the bounds of a workload.
    package static func time(_ nanoseconds: Int64) -> Int { Int(max(0, min(nanoseconds, Int64(timeLimit)))) }

    /// Whether operations depend on one another in a circle.
    package var hasCircle: Bool { DependencyGraph(operationCount: operationCount, edges: dependencies) == nil }
}

// MARK: - Packed texts

extension RecordedLoad {
    /// The numbers, in order, with a single space between them; equal neighbours as `number*count`.
    static func packed(_ numbers: [Int]) -> [String] {
        var words: [String] = []
        var index = 0
        while index < numbers.count {
            let end = numbers[index...].firstIndex { $0 != numbers[index] } ?? numbers.count
            words.append(end - index > 1 ? "\(numbers[index])*\(end - index)" : "\(numbers[index])")
            index = end
        }
        return words
    }

    /// The numbers of a packed text; nil for any other text, and for more than `limit`.
    static func unpacked(_ text: Substring, limit: Int) -> [Int]? {
        var numbers: [Int] = []
        for word in text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
            let parts = word.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            guard parts.count <= 2, let number = number(parts[0], digits: 15),
                let count = parts.count == 2 ? self.number(parts[1], digits: 7) : 1,
                parts.last?.first != UInt8(ascii: "0") || parts.count == 1, count > 0, count <= limit - numbers.count
            else { return nil }
            numbers.append(contentsOf: repeatElement(number, count: count))
        }
        return numbers
    }

    /// The regular expression that a text in a column matches.
    static let packedPattern: String = {
        let word = "-?[0-9]{1,15}(\\*[1-9][0-9]{0,6})?"
        return "^\(word)( \(word))*$"
    }()

    /// A number of at most this many digits, with a minus sign if it is negative.
    private static func number(_ text: Substring.UTF8View, digits: Int) -> Int? {
        let plain = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        guard (1...digits).contains(plain.count), plain.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(Substring(text))
    }

    /// The columns without those that have their usual values.
    private static func packed(_ columns: [Column: [Int]]) -> [String] {
        Column.allCases.compactMap { column in
            guard let numbers = columns[column], !numbers.isEmpty else { return nil }
            let isUsual = numbers.allSatisfy { $0 == 0 } && (column.subject == .operation || numbers.count == 1)
            guard !isUsual || requiredColumns.contains(column) else { return nil }
            return "\(column.rawValue) " + packed(numbers).joined(separator: " ")
        }
    }
}

extension RecordedLoad {
    /// The load as a file has it: each column with other than its usual values, as a list of texts of one line each.
    var json: JSONValue {
        .members(
            Self.packed(columns).map { text in
                let end = text.firstIndex(of: " ") ?? text.endIndex
                return (String(text[..<end]), .strings(text[end...].filledLines(width: Self.lineWidth)))
            } + (groupNames.isEmpty ? [] : [(Self.namesKey, .strings(groupNames))]))
    }

    private static let lineWidth = 88
}
