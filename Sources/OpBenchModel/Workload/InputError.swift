/// Bad input from the user: a workload file, a command-line value, a CSV file. Carries what a person needs to put it
/// right. `opbench` prints it and exits 64.
public struct InputError: Error, Sendable, Hashable {
    /// The file as the user named it, or the option (`--set`).
    public var file: String
    /// The line in that file, from 1; nil where no line is to blame.
    public var line: Int?
    /// The JSON path (`$.parameters.depth[2]`), or `column <name>` in a CSV file; empty where there is none.
    public var path: String
    /// What is wrong.
    public var message: String
    /// What is allowed, or what to do about it.
    public var remedy: String

    public init(file: String, line: Int? = nil, path: String = "", message: String, remedy: String) {
        self.file = file
        self.line = line
        self.path = path
        self.message = message
        self.remedy = remedy
    }
}

extension InputError: CustomStringConvertible {
    /// One line: `file:line: path: message; remedy`.
    public var description: String {
        var place = file
        if let line { place += ":\(line)" }
        if !path.isEmpty { place += ": \(path)" }
        return "\(place): \(message); \(remedy)"
    }
}

/// Mistakes in the input, all of which their author is to see at once: those of every file and option that was read.
public struct InputErrors: Error, Sendable, Hashable {
    /// At least one, each once: file by file, and in a file by line, what has no line last.
    public let errors: [InputError]
    /// How many more there were than are kept.
    public let omitted: Int

    /// The most that are kept.
    static let limit = 1000

    public init(_ error: InputError) { (errors, omitted) = ([error], 0) }

    /// - Parameter errors: at least one; none is a mistake of the program, and traps.
    public init(errors: [InputError]) {
        precondition(!errors.isEmpty, "mistakes without a mistake")
        self.init(errors, omitted: 0)
    }

    /// - Parameter errors: at least one.
    fileprivate init(_ errors: [InputError], omitted: Int) {
        let files = Dictionary(errors.map(\.file).enumerated().map { ($1, $0) }) { first, _ in first }
        func place(_ index: Int) -> (Int, Int, Int) { (files[errors[index].file]!, errors[index].line ?? .max, index) }
        var seen: Set<InputError> = []
        self.errors = errors.indices.sorted { place($0) < place($1) }.map { errors[$0] }
            .filter { seen.insert($0).inserted }
        self.omitted = omitted
    }

    /// As one, for those who tell of one: the first, and how many there are beside it.
    public var first: InputError {
        var first = errors[0]
        let others = errors.count - 1 + omitted
        if others > 0 { first.message += " (and \(others) more)" }
        return first
    }
}

extension InputErrors: CustomStringConvertible {
    /// One line for each.
    public var description: String { lines(limit: .max).joined(separator: "\n") }

    /// One line for each of so many, and one that counts the others.
    public func lines(limit: Int) -> [String] {
        let others = max(0, errors.count - limit) + omitted
        return errors.prefix(limit).map(\.description) + (others > 0 ? ["and \(others) more mistakes"] : [])
    }
}

/// Gathers mistakes while input is read, so that the first one hides no other.
///
/// Not thread-safe: a reader makes one, and throws what it has gathered in the end.
public final class Mistakes {
    private var errors: [InputError] = []
    private var omitted = 0

    public init() {}

    public func note(_ error: InputError) {
        if errors.count < InputErrors.limit { errors.append(error) } else { omitted += 1 }
    }

    public func note(_ mistakes: InputErrors) {
        for error in mistakes.errors { note(error) }
        omitted += mistakes.omitted
    }

    /// What a reading gives; nil if it fails, and then its mistakes are kept.
    @discardableResult
    public func keep<Value>(_ reading: () throws(InputErrors) -> Value) -> Value? {
        do {
            return try reading()
        } catch {
            note(error)
            return nil
        }
    }

    /// The same of something that may be absent, which is no mistake.
    @discardableResult
    public func keep<Input, Value>(_ input: Input?, _ reading: (Input) throws(InputErrors) -> Value) -> Value? {
        guard let input else { return nil }
        return keep { () throws(InputErrors) in try reading(input) }
    }

    /// As `keep`, of a reading that ends with its first mistake.
    @discardableResult
    public func keepFirst<Value>(_ reading: () throws(InputError) -> Value) -> Value? {
        do {
            return try reading()
        } catch {
            note(error)
            return nil
        }
    }

    /// What was gathered; nil if nothing was.
    public var gathered: InputErrors? { errors.isEmpty ? nil : InputErrors(errors, omitted: omitted) }

    /// - Throws: `InputErrors` if there are any.
    public func check() throws(InputErrors) {
        if let gathered { throw gathered }
    }
}
