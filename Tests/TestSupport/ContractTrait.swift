import Foundation
import Testing

/// Names the lines of the engine's contract that a test holds to.
///
/// The event stream of a test run shows neither traits nor tags. Where `OPBENCH_CONTRACT_TESTS` names a file, the trait
/// therefore appends a row to it for each test of the run, before the first one runs; `scripts/docs --contract` reads it.
public struct ContractTrait: TestTrait, TestScoping {
    struct UnknownLine: Error, CustomStringConvertible {
        let name: String
        var description: String { "\(name) is no line of Tests/Contract/lines.txt" }
    }

    let lines: [String]

    /// Fails the test if a line is not in the contract.
    public func prepare(for test: Test) async throws {
        if let name = lines.first(where: { !ContractLines.known.contains($0) }) { throw UnknownLine(name: name) }
        ContractRecord.shared?.append(
            .init(test: "\(test.id)", title: test.displayName ?? test.name, lines: lines))
    }

    /// Every test of the run is prepared before any is performed. A run that only lists them ends here.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if ContractRecord.isOnlyListing { exit(0) }
        try await function()
    }
}

extension Trait where Self == ContractTrait {
    /// For a test that holds the engine to these lines, as in `.contract("A1", "E21")`.
    public static func contract(_ lines: String...) -> Self { ContractTrait(lines: lines) }
}

/// The lines that there are.
private enum ContractLines {
    static let known: Set<String> = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Contract/lines.txt")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return Set(text.matches(of: #/(?m)^([A-Z]\d*) /#).map { String($0.output.1) })
    }()
}

/// The file of the tests of this run and their lines: a JSON object in each row.
///
/// Safe to use from any thread, and from several processes at once.
private struct ContractRecord: Sendable {
    struct Row: Encodable {
        let test: String
        let title: String
        let lines: [String]
    }

    static let shared = ProcessInfo.processInfo.environment["OPBENCH_CONTRACT_TESTS"].map(ContractRecord.init)

    /// Whether the run is to say which tests there are, and to perform none.
    static let isOnlyListing = TestRun.has("list")

    private let descriptor: Int32

    private init(path: String) {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        precondition(descriptor >= 0, "cannot write \(path)")
    }

    /// Rows are short, and a row is written at once: those of several writers do not mix.
    func append(_ row: Row) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let bytes = try? encoder.encode(row) + Data("\n".utf8) else { return }
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        precondition(written == bytes.count, "the record of the contract's tests cannot be written")
    }
}
