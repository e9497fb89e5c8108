/// The work that a program's operations brought to its queues, in the order of their arrival: when each came, to which
/// queue, what it waited for, what its body did. Only the names of groups, which may be left out, are of the program.
///
/// Columns of whole numbers, which workload files pack as texts. Two loads are equal if their digests are.
public struct RecordedLoad: Sendable {
    /// A column, by its key in files. Columns of one subject have the same length.
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
        /// The number of its group, whose figures are apart: a class in a queue.
        case groups = "group"
        /// The recorded time from its arrival to its end; 0 if it did not run.
        case latencies = "latency_ns"
        /// The number of each waiting operation, less that of the previous dependency.
        case dependencySteps = "dependency_steps"
        /// The number of the waiting operation less that of its predecessor; below 0 if that one arrived later.
        case dependencyDistances = "dependency_distances"
        /// The number of each cancelled operation, less that of the previous one.
        case cancellationSteps = "cancellation_steps"
        /// The time from its arrival to the call that cancelled it.
        case cancellationDelays = "cancellation_delays_ns"
    }

    /// The digest of all columns and names: 12 hexadecimal digits, the load's text in cell ids.
    public let digest: String
    private let columns: [Column: [Int]]
    /// The name of each group, at least as many as there are groups; or none.
    public let groupNames: [String]
    public let operationCount: Int

    static let namesKey = "group_names"

    /// - Parameter columns: checked ones; those that are absent have their usual values.
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

    /// The load of one queue alone, without dependencies on operations of others.
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

    /// Adds up a load, operation by operation.
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

        /// To be called by ascending `operation`.
        package mutating func addDependency(of operation: Int, on predecessor: Int) {
            columns[.dependencySteps, default: []].append(operation - lastWaiting)
            columns[.dependencyDistances, default: []].append(operation - predecessor)
            lastWaiting = operation
        }

        /// To be called by ascending `operation`.
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
    /// The things that a column has a number of.
    enum Subject: String { case queue, operation, dependency, cancellation }

    var subject: Subject {
        switch self {
        case .limits: .queue
        case .gaps, .work, .waits, .queues, .priorities, .groups, .latencies: .operation
        case .dependencySteps, .dependencyDistances: .dependency
        case .cancellationSteps, .cancellationDelays: .cancellation
        }
    }

    /// The most numbers of a column.
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
    /// The most operations of one load: more do not fit in a workload file.
    public static let operationLimit = 100_000
    package static let queueLimit = 64
    package static let groupLimit = 64
    package static let dependencyLimit = 1_000_000
    /// The longest time, of a body as of all arrivals, in nanoseconds.
    package static let timeLimit = Int(ShapeDefinition.secondsLimit * 1e9)
    static let requiredColumns: [Column] = [.gaps, .work]
}

// MARK: - Values of a program

extension RecordedLoad {
    /// A program's names as names of groups: in one line, not too long, and each of its own.
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

    /// A number of at most so many digits, after a minus sign where it is below 0.
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
    /// The load as written in a file: each column that says something, in texts that fill their lines.
    var json: JSONValue {
        .members(
            Self.packed(columns).map { text in
                let end = text.firstIndex(of: " ") ?? text.endIndex
                return (String(text[..<end]), .strings(Self.lines(text[end...].dropFirst())))
            } + (groupNames.isEmpty ? [] : [(Self.namesKey, .strings(groupNames))]))
    }

    private static let lineWidth = 88

    private static func lines(_ text: Substring) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.utf8.count + 1 + word.utf8.count <= lineWidth {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
