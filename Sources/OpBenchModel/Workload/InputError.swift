/// Bad input from the user: a workload file, a command-line value, a CSV file. Carries what a person needs to correct
/// it. `opbench` prints it and exits 64.
public struct InputError: Error, Sendable, Hashable {
    /// The file as the user named it, or the option (`--set`).
    public var file: String
    /// The line in that file, from 1; nil if no line is at fault.
    public var line: Int?
    /// The JSON path (`$.parameters.depth[2]`), or `column <name>` in a CSV file; empty if there is none.
    public var path: String
    /// The mistake.
    public var message: String
    /// The allowed values, or the action to take.
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

/// All mistakes in the input, from every file and option that was read, so that a user sees them at once.
public struct InputErrors: Error, Sendable, Hashable {
    /// At least one, without duplicates: by file, then by line; mistakes without a line come last.
    public let errors: [InputError]
    /// The number of further mistakes that were not kept.
    public let omitted: Int

    /// The largest number of kept mistakes.
    static let limit = 1000

    public init(_ error: InputError) { (errors, omitted) = ([error], 0) }

    /// - Parameter errors: at least one; traps if empty.
    public init(errors: [InputError]) {
        precondition(!errors.isEmpty, "no mistakes")
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

    /// The first mistake, with the number of the others in its message.
    public var first: InputError {
        var first = errors[0]
        let others = errors.count - 1 + omitted
        if others > 0 { first.message += " (and \(others) more)" }
        return first
    }
}

extension InputErrors: CustomStringConvertible {
    /// One line per mistake.
    public var description: String { lines(limit: .max).joined(separator: "\n") }

    /// One line per mistake up to `limit`, and one with the number of the others.
    public func lines(limit: Int) -> [String] {
        let others = max(0, errors.count - limit) + omitted
        return errors.prefix(limit).map(\.description) + (others > 0 ? ["and \(counted(others, "more mistake"))"] : [])
    }
}

/// Collects mistakes while input is read, so that the first one does not hide the others.
///
/// Not thread-safe: a reader makes one, and throws the collected mistakes at the end.
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

    /// The result of a decoding step; nil if it fails, and then its mistakes are kept.
    @discardableResult
    public func keep<Value>(_ reading: () throws(InputErrors) -> Value) -> Value? {
        do {
            return try reading()
        } catch {
            note(error)
            return nil
        }
    }

    /// Like `keep`, for a step that ends with its first mistake.
    @discardableResult
    public func keepFirst<Value>(_ reading: () throws(InputError) -> Value) -> Value? {
        do {
            return try reading()
        } catch {
            note(error)
            return nil
        }
    }

    /// The collected mistakes; nil if there are none.
    public var gathered: InputErrors? { errors.isEmpty ? nil : InputErrors(errors, omitted: omitted) }

    /// - Throws: `InputErrors` if there are any.
    public func check() throws(InputErrors) {
        if let gathered { throw gathered }
    }
}
