import Foundation

/// The result of a mutation: the check that noticed it, if any.
struct Verdict {
    let mutation: Mutation
    let notice: Notice
    let seconds: Double
}

/// The tests, or the schedule, that failed.
struct Notice {
    var by: [String] = []
    /// The lines of the contract that they name.
    var lines: [String] = []
}

/// Runs what should notice the mutations of a built tree.
struct Judge {
    let tree: MutatedTree
    /// The folder of built programs.
    let products: URL
    /// Tests that fail without any mutation: they prove nothing.
    var unreliable: Set<String> = []

    static let switchName = "OPERATION_ENGINE_MUTATION"

    // MARK: The explorer

    /// The first schedule that fails: first in the scenarios that are named, then in all.
    func explore(_ mutation: Mutation, number: Int) throws -> Notice {
        var attempts: [[String]] = []
        if !mutation.scenarios.isEmpty {
            attempts.append(["search", "--first", "--seconds", "20"] + mutation.scenarios)
            attempts.append(["search", "--first", "--long", "--seconds", "90"] + mutation.scenarios)
        }
        attempts.append(["random", "--first", "--schedules", "200", "--seconds", "5"])
        for attempt in attempts {
            let run = try Program(
                path: products.appending(path: "explore").path, arguments: attempt, folder: tree.root,
                environment: [Self.switchName: "\(number)"]
            ).run(seconds: 1200)
            let lines = run.output.split(separator: "\n")
            if let failed = lines.first(where: { $0.hasPrefix("FAILED") }) {
                let replay = lines.first { $0.contains("replay: ") }?.split(separator: " ").last ?? ""
                let what = failed.dropFirst(6).trimmingCharacters(in: .whitespaces)
                // "scenario: N4: what went wrong"
                let lines = what.prefixMatch(of: #/[\w-]+: ([A-Z]\d*(?: [A-Z]\d*)*): /#)?.output.1 ?? ""
                return Notice(
                    by: ["explorer: \(what) [\(replay)]"], lines: lines.split(separator: " ").map(String.init))
            }
        }
        return Notice()
    }

    // MARK: The tests

    /// The tests that fail: of those that name one of the mutation's lines, or of all that name a line.
    func test(_ mutation: Mutation, number: Int, catalog: TestCatalog, isWide: Bool) throws -> Notice {
        let suspects = catalog.tests(naming: mutation.lines)
        let filter = isWide ? TestCatalog.contractFilter : suspects.map(\.filter).joined(separator: "|")
        let together = filter.isEmpty ? TestRun() : try runTests(filter: filter, number: number)
        var failed = Set(together.failed)
        if together.hasCrashed {
            // One of the many that ran at the crash is to blame: each alone, up to the first.
            for test in suspects {
                let alone = try runTests(filter: test.filter, number: number)
                guard alone.hasCrashed || !alone.failed.isEmpty else { continue }
                failed.insert(test.title)
                break
            }
        }
        let titles = failed.subtracting(unreliable).sorted()
        return Notice(by: titles, lines: catalog.lines(of: titles))
    }

    /// Every test that names lines, stress programs included. None is run.
    func listTests() throws -> TestCatalog {
        let record = tree.root.appending(path: ".build/contract-tests.jsonl")
        try? FileManager.default.removeItem(at: record)
        _ = try Program(
            path: testBundle, arguments: ["--testing-library", "swift-testing", "--filter", "OperationEngineTests"],
            folder: tree.root, environment: ["OPBENCH_CONTRACT_TESTS": record.path, "OPBENCH_TEST": "list"]
        ).run(seconds: 60)
        return try TestCatalog(record: record)
    }

    private var testBundle: String { products.appending(path: "opbenchPackageTests.xctest").path }

    struct TestRun {
        var failed: [String] = []
        var hasCrashed = false
    }

    func runTests(filter: String, number: Int?) throws -> TestRun {
        var environment = ["SWIFT_BACKTRACE": "enable=no"]
        if let number { environment[Self.switchName] = "\(number)" }
        let run = try Program(
            path: testBundle, arguments: ["--testing-library", "swift-testing", "--filter", filter], folder: tree.root,
            environment: environment
        ).run(seconds: number == nil ? 600 : 150)
        let failed = run.output.split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/^✘ Test "(.+?)" (with \d+ test cases? )?failed after/#).map { String($0.output.1) }
        }
        return TestRun(failed: failed, hasCrashed: run.wasKilled || !run.output.contains("Test run with"))
    }
}

/// The tests that name lines of the contract, as the trait `.contract` has recorded them.
struct TestCatalog {
    struct Test: Decodable {
        /// `Module.Suite/test()/File.swift:1:2`
        let test: String
        let title: String
        let lines: [String]

        /// An expression for `--filter` that fits this test alone.
        var filter: String {
            NSRegularExpression.escapedPattern(for: String(test[..<(test.lastIndex(of: "/") ?? test.endIndex)]) + "/")
        }
    }

    static let contractFilter =
        "OperationEngineTests\\.(?!.*(Stress|Crowd|Soak|LargeGraph|RandomGraph|RaceTests|Scenario|Coverage))"
    private let tests: [Test]

    init(record: URL) throws {
        let rows = try String(contentsOf: record, encoding: .utf8).split(separator: "\n")
        tests = try rows.map { try JSONDecoder().decode(Test.self, from: Data($0.utf8)) }
    }

    func tests(naming lines: [String]) -> [Test] {
        tests.filter { test in lines.contains { test.lines.contains($0) } }
    }

    func lines(of titles: [String]) -> [String] {
        Set(tests.filter { titles.contains($0.title) }.flatMap(\.lines)).sorted()
    }
}
