import Glibc

/// An instant at which the schedule could have gone another way.
struct Choice {
    var step: Int
    /// The threads that could have gone on instead, one bit each.
    var others: UInt32
    /// The threads whose timed wait could have run out.
    var sleepers: UInt32
    /// Whether the running thread was in a futex wait, which may return for no reason.
    var mayWakeSpuriously: Bool
}

/// The report of a child process that runs one schedule to its parent, in memory that both share.
final class SharedReport {
    enum Outcome: Int32 {
        /// The child ended before it could say anything: it crashed or was killed.
        case none
        case passed
        case failed
    }

    struct Header {
        var outcome: Int32 = 0
        var steps = 0
        /// A digest of what ran in which order.
        var trace: UInt64 = 0
        var choiceCount = 0
        var departureCount = 0
        var messageLength = 0
        /// The log of choices was too short for this schedule.
        var isLogFull = false
        /// A word turned out to be contended that was not known to be.
        var hasFoundContended = false
    }

    private static let choiceLimit = 1 << 15
    private static let departureLimit = 1 << 14
    private static let messageLimit = 1 << 14

    let header: UnsafeMutablePointer<Header>
    private let choiceLog: UnsafeMutablePointer<Choice>
    private let departureLog: UnsafeMutablePointer<Departure>
    private let messageText: UnsafeMutablePointer<UInt8>
    /// One byte for each cell key: whether threads contend for it in some schedule seen so far.
    private let contended: UnsafeMutablePointer<Bool>

    init() {
        func shared<Element>(_ count: Int, of type: Element.Type = Element.self) -> UnsafeMutablePointer<Element> {
            let memory = mmap(
                nil, count * MemoryLayout<Element>.stride, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
            precondition(memory != MAP_FAILED)
            return memory!.bindMemory(to: type, capacity: count)
        }
        header = shared(1)
        choiceLog = shared(Self.choiceLimit)
        departureLog = shared(Self.departureLimit)
        messageText = shared(Self.messageLimit)
        contended = shared(Cell.keyCount)
    }

    /// For the next schedule. What is known to be contended stays.
    func clear() { header.pointee = Header() }

    func forgetContended() { contended.update(repeating: false, count: Cell.keyCount) }

    // MARK: Written by the child

    func log(_ choice: Choice) {
        guard header.pointee.choiceCount < Self.choiceLimit else {
            header.pointee.isLogFull = true
            return
        }
        choiceLog[header.pointee.choiceCount] = choice
        header.pointee.choiceCount += 1
    }

    func log(_ departure: Departure) {
        guard header.pointee.departureCount < Self.departureLimit else { return }
        departureLog[header.pointee.departureCount] = departure
        header.pointee.departureCount += 1
    }

    func noteContended(_ key: Int) {
        guard !contended[key] else { return }
        contended[key] = true
        header.pointee.hasFoundContended = true
    }

    func isContended(_ key: Int) -> Bool { contended[key] }

    func finish(_ outcome: Outcome, message: String) {
        let bytes = message.utf8.prefix(Self.messageLimit)
        for (index, byte) in bytes.enumerated() { messageText[index] = byte }
        header.pointee.messageLength = bytes.count
        header.pointee.outcome = outcome.rawValue
    }

    // MARK: Read by the parent

    var outcome: Outcome { Outcome(rawValue: header.pointee.outcome) ?? .none }
    var choices: UnsafeBufferPointer<Choice> { .init(start: choiceLog, count: header.pointee.choiceCount) }
    var departures: [Departure] {
        Array(UnsafeBufferPointer(start: departureLog, count: header.pointee.departureCount))
    }
    var message: String {
        String(decoding: UnsafeBufferPointer(start: messageText, count: header.pointee.messageLength), as: UTF8.self)
    }
}
