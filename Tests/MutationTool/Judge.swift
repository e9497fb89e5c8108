import Foundation

/// What noticed a mutation; nobody if it survives.
struct Verdict {
    let mutation: Mutation
    let noticedBy: [String]
    let seconds: Double
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
    func explore(_ mutation: Mutation, number: Int) throws -> [String] {
        var attempts: [[String]] = []
        if !mutation.scenarios.isEmpty {
            attempts.append(["search"] + mutation.scenarios + ["--first", "--seconds", "20"])
            attempts.append(["search"] + mutation.scenarios + ["--first", "--long", "--seconds", "40"])
        }
        attempts.append(["search", "--first", "--seconds", "20"])
        attempts.append(["random", "--first", "--schedules", "400"])
        for attempt in attempts {
            let run = try Program(
                path: products.appending(path: "explore").path, arguments: attempt, folder: tree.root,
                environment: [Self.switchName: "\(number)"]
            ).run(seconds: 1200)
            let lines = run.output.split(separator: "\n")
            if let failed = lines.first(where: { $0.hasPrefix("FAILED") }) {
                let replay = lines.first { $0.contains("replay: ") }?.split(separator: " ").last ?? ""
                return ["explorer: \(failed.dropFirst(6).trimmingCharacters(in: .whitespaces)) [\(replay)]"]
            }
        }
        return []
    }

    // MARK: The tests

    /// The names of the tests that fail. All tests of the contract are run; if the process crashes, those that name one
    /// of the mutation's lines, one after another, since then the last one begun is to blame.
    func test(_ mutation: Mutation, number: Int, catalog: TestCatalog) throws -> [String] {
        let all = try runTests(filter: TestCatalog.contractFilter, number: number)
        if !all.hasCrashed { return all.failed.filter { !unreliable.contains($0) } }
        // Some of the many that ran at the crash; each of these suspects alone.
        let suspects = catalog.tests(naming: mutation.lines)
        var failed = Set(all.failed)
        for test in suspects.prefix(8) {
            let alone = try runTests(filter: test.filter, number: number)
            if alone.hasCrashed || !alone.failed.isEmpty { failed.insert(test.name) }
        }
        if failed.isEmpty { failed.formUnion(all.crashedIn.prefix(1).map { "the process of \($0)" }) }
        return failed.subtracting(unreliable).sorted()
    }

    struct TestRun {
        var failed: [String]
        var hasCrashed: Bool
        /// The tests that had begun and not ended when the process did.
        var crashedIn: [String]
    }

    func runTests(filter: String, number: Int?) throws -> TestRun {
        var environment = ["SWIFT_BACKTRACE": "enable=no", "OPBENCH_ENGINE_ONLY": "1"]
        if let number { environment[Self.switchName] = "\(number)" }
        let run = try Program(
            path: "swift",
            arguments: [
                "test", "--skip-build", "--disable-xctest", "--disable-sandbox", "--filter", filter,
            ], folder: tree.root, environment: environment
        ).run(seconds: 150)
        var (begun, ended, failed): ([String], Set<String>, [String]) = ([], [], [])
        for line in run.output.split(separator: "\n") {
            if let match = line.firstMatch(of: #/^◇ Test "(.+)" started\.$/#) {
                begun.append(String(match.output.1))
            } else if let match = line.firstMatch(of: #/^✔ Test "(.+?)" (with \d+ test cases? )?passed after/#) {
                ended.insert(String(match.output.1))
            } else if let match = line.firstMatch(of: #/^✘ Test "(.+?)" (with \d+ test cases? )?failed after/#) {
                ended.insert(String(match.output.1))
                failed.append(String(match.output.1))
            }
        }
        let hasCrashed = run.wasKilled || !run.output.contains("Test run with")
        return TestRun(failed: failed, hasCrashed: hasCrashed, crashedIn: begun.filter { !ended.contains($0) })
    }
}

/// The tests of the contract, by the names that say which lines they test.
struct TestCatalog {
    struct Test {
        let name: String
        let filter: String
    }

    static let contractFilter =
        "OperationEngineTests\\.(?!.*(Stress|Crowd|Soak|LargeGraph|RandomGraph|RaceTests|Scenario|Coverage))"
    private let tests: [Test]

    init(folder: URL) throws {
        var found: [Test] = []
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", let text = try? String(contentsOf: file, encoding: .utf8) else {
                continue
            }
            let suites = text.matches(of: #/(?m)^(?:@\w+[^\n]*\n)?(?:final )?(?:struct|class|extension) (\w+)/#)
            for match in text.matches(of: #/@Test\(\s*"([^"]+)"[^{}]*?\)\s*(?:@\w+\s*)?func (\w+)\(/#) {
                let suite = suites.last { $0.range.lowerBound < match.range.lowerBound }?.output.1 ?? ""
                found.append(
                    Test(name: String(match.output.1), filter: "OperationEngineTests\\.\(suite)/\(match.output.2)\\("))
            }
        }
        tests = found
    }

    func tests(naming lines: [String]) -> [Test] {
        tests.filter { test in
            guard let colon = test.name.firstIndex(of: ":") else { return false }
            let named = test.name[..<colon].split(separator: " ").map(String.init)
            return lines.contains { named.contains($0) }
        }
    }
}
