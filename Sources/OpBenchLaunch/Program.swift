import Glibc
import OpBenchModel

/// A program and how to start it.
public struct Program: Sendable {
    /// Its path, or a name to look up in PATH. A relative path starts from `folder`.
    public var name: String
    public var arguments: [String]
    /// The name that the program gets as argument 0; nil for `name`.
    public var ownName: String?
    /// Changes to this process's environment: a value, or nil to remove the variable.
    public var environment: [String: String?]
    /// The working folder; nil for this process's.
    public var folder: String?
    /// Whether it leads a separate process group, out of reach of the terminal's Ctrl-C. Processes that it leaves in
    /// that group end with it.
    public var hasOwnGroup: Bool
    /// The signal that it gets if this process ends first.
    public var signalAtEnd = SIGKILL
    /// The requests to end that it gets when the task is cancelled, one after the other. Then it is killed.
    public var requestsToEnd: [RequestToEnd] = []

    public init(
        _ name: String, _ arguments: [String] = [], environment: [String: String?] = [:], in folder: String? = nil,
        hasOwnGroup: Bool = false
    ) {
        (self.name, self.arguments, self.environment) = (name, arguments, environment)
        (self.folder, self.hasOwnGroup) = (folder, hasOwnGroup)
    }

    /// A signal that a program may handle, and the time that it has for that.
    public struct RequestToEnd: Sendable {
        var signal: Int32
        var goesToGroup: Bool
        var seconds: Double

        public init(_ signal: Int32, toGroup goesToGroup: Bool = false, seconds: Double) {
            (self.signal, self.goesToGroup, self.seconds) = (signal, goesToGroup, seconds)
        }
    }

    /// One of its standard streams.
    public enum Stream: Sendable {
        /// Input is empty, and output is discarded.
        case null
        case memory(MemoryFile)
        /// A descriptor that must stay open until the program has ended.
        case descriptor(Int32)
    }

    /// How it ended.
    public enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signaled(Int32)
        /// Killed because its time was over.
        case timedOut

        public var isSuccess: Bool { self == .exited(0) }
    }

    /// The output of a program, and how it ended.
    public struct Printed: Sendable {
        public let ending: Ending
        public let bytes: [UInt8]
        /// The text that it wrote to standard error.
        public let errors: String

        public var isSuccess: Bool { ending.isSuccess }
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - seconds: the time limit; nil for none. Time in which this process was stopped does not count.
    ///   - onStart: called with the process number, which no other process can get before the call returns.
    /// - Throws: `LaunchError` if the program cannot be started; `CancellationError`, once the program has ended, if
    ///   the task was cancelled before or meanwhile.
    public func run(
        input: Stream = .null, output: Stream = .null, errors: Stream = .null, seconds: Double? = nil,
        onStart: @escaping @Sendable (pid_t) -> Void = { _ in }
    ) async throws -> Ending {
        try await Launch(program: self, streams: [input, output, errors], seconds: seconds, onStart: onStart).ending()
    }

    /// The time in which a program answers a question even on a busy machine, in seconds.
    public static let secondsToAnswer = 60.0

    /// Runs it to its end, and collects its output. Beyond the limits, in bytes, its writes fail (EPERM).
    ///
    /// - Parameters:
    ///   - errorLimit: nil discards standard error.
    ///   - seconds: the time limit; nil for a program that works as long as it needs.
    /// - Throws: the errors of `run`; `DiskError` if there are no descriptors.
    public func printed(
        limit: Int = 1 << 20, errorLimit: Int? = nil, seconds: Double? = secondsToAnswer
    ) async throws -> Printed {
        let output = try MemoryFile(limit: limit)
        let errors = try errorLimit.map { try MemoryFile(limit: $0) }
        let ending = try await run(
            output: .memory(output), errors: errors.map(Stream.memory) ?? .null, seconds: seconds)
        return Printed(
            ending: ending, bytes: output.contents(),
            errors: String(decoding: errors?.contents() ?? [], as: UTF8.self))
    }
}

/// A program could not be started.
public struct LaunchError: Error, CustomStringConvertible {
    public let program: String
    /// An errno value: ENOENT if there is no such program.
    public let code: Int32

    public var isMissing: Bool { code == ENOENT }
    public var reason: String { String(cString: strerror(code)) }
    public var description: String { "\(program): \(reason)" }
}
