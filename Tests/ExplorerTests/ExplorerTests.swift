import Foundation
import Interleaving
import TestSupport
import Testing

/// The scenarios are run by the program `explore`, which forks a process for each schedule.
@Suite(.onOwnThreads)
struct ExplorerTests {
    /// The scenarios' names, from `explore list`.
    private static func names(broken: Bool) throws -> [String] {
        let listing = try explore(["list"])
        try #require(listing.status == 0)
        return listing.output.split(separator: "\n").filter { $0.contains("(broken on purpose)") == broken }
            .map { String($0.prefix { $0 != " " }) }
    }

    @Test("Every schedule within the short bounds keeps its property, in every scenario", .slow)
    func shortBounds() throws {
        let names = try Self.names(broken: false)
        let search = try explore(["search"])
        #expect(search.status == 0, "\(search.output)")
        let lines = search.output.split(separator: "\n")
        for name in names {
            let isExhausted = lines.contains { $0.hasPrefix("passed  \(name): ") && $0.contains(", all ") }
            #expect(isExhausted, "\(name) was not searched through")
        }
        #expect(names.count > 50)
    }

    @Test("So do random schedules, by seeds that are always the same")
    func randomSchedules() throws {
        let search = try explore(["random", "--schedules", "\(Scale.of(40))"])
        #expect(search.status == 0, "\(search.output)")
    }

    @Test(
        "What is broken on purpose is found, and its replay fails again in the same way", .serialized,
        arguments: ["search", "random"])
    func broken(command: String) throws {
        let names = try Self.names(broken: true)
        #expect(names.count >= 4)
        for name in names {
            let found = try explore([command, name])
            #expect(found.status == 1, "\(command) did not find \(name)")
            let line = try #require(found.output.split(separator: "\n").first { $0.contains("replay: ") })
            let replay = String(try #require(line.split(separator: " ").last))
            let first = try explore(["replay", replay])
            let second = try explore(["replay", replay])
            #expect(first.status == 1)
            #expect(first.output.hasPrefix("FAILED"))
            #expect(first.output == second.output)
        }
    }

    @Test(
        "The same schedules give the same traces, others give others",
        arguments: ["two-producers-limit-1", "both-workers-wait", "spare-worker-ends", "futex-lock-three"])
    func deterministic(name: String) throws {
        func run(seed: Int) throws -> String {
            let result = try explore(["random", name, "--schedules", "30", "--seed", "\(seed)"])
            return result.output.split(separator: " ").last.map(String.init) ?? ""
        }
        let traces = try (0..<3).map { _ in try run(seed: 100) }
        #expect(Set(traces).count == 1, "\(traces)")
        #expect(try run(seed: 200) != traces[0])
    }

    @Test("A replay is read as it is written")
    func replayText() {
        let replay = Replay(
            scenario: "a-b",
            departures: [
                Departure(step: 3, kind: .run, thread: 1), Departure(step: 9, kind: .expire, thread: 2),
                Departure(step: 12, kind: .wakeSpuriously, thread: 0),
            ])
        #expect(replay.description == "a-b@3:1,9:t2,12:s")
        #expect(Replay(replay.description) == replay)
        for wrong in ["a-b", "a-b@x", "a-b@1", "a-b@1:", "a-b@1:t", "a-b@1:2:3", "a@b@1:2"] {
            #expect(Replay(wrong) == nil, "\(wrong)")
        }
    }

    @Test(
        "Bad usage exits with 2",
        arguments: [[], ["fly"], ["search", "no-such-scenario"], ["search", "--far"], ["replay"]])
    func badUsage(arguments: [String]) throws {
        #expect(try explore(arguments).status == 2)
    }
}

/// Runs the explorer, which is beside the test bundle.
private func explore(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let process = Process()
    process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: "explore")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
}
