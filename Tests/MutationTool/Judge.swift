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
                return ["explorer: \(failed.dropFirst(6).trimmingCharacters(in: .whitespaces)) [\(replay)]"]
            }
        }
        return []
    }

    // MARK: The tests

    /// The names of the tests that fail: of those that name one of the mutation's lines, or of all that name a line.
    func test(_ mutation: Mutation, number: Int, catalog: TestCatalog, isWide: Bool) throws -> [String] {
        let suspects = catalog.tests(naming: mutation.lines)
        let filter = isWide ? TestCatalog.contractFilter : suspects.map(\.filter).joined(separator: "|")
        let together = filter.isEmpty ? TestRun() : try runTests(filter: filter, number: number)
        var failed = Set(together.failed)
        if together.hasCrashed {
            // One of the many that ran at the crash is to blame: each alone, up to the first.
            for test in suspects {
                let alone = try runTests(filter: test.filter, number: number)
                guard alone.hasCrashed || !alone.failed.isEmpty else { continue }
                failed.insert(test.name)
                break
            }
        }
        return failed.subtracting(unreliable).sorted()
    }

    struct TestRun {
        var failed: [String] = []
        var hasCrashed = false
    }

    func runTests(filter: String, number: Int?) throws -> TestRun {
        var environment = ["SWIFT_BACKTRACE": "enable=no"]
        if let number { environment[Self.switchName] = "\(number)" }
        let run = try Program(
            path: products.appending(path: "opbenchPackageTests.xctest").path,
            arguments: ["--testing-library", "swift-testing", "--filter", filter], folder: tree.root,
            environment: environment
        ).run(seconds: number == nil ? 600 : 150)
        let failed = run.output.split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/^✘ Test "(.+?)" (with \d+ test cases? )?failed after/#).map { String($0.output.1) }
        }
        return TestRun(failed: failed, hasCrashed: run.wasKilled || !run.output.contains("Test run with"))
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
