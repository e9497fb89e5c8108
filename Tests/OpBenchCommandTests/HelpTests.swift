import ArgumentParser
import Foundation
import Testing

@testable import opbench

/// What the help and the README say can be typed, can be typed.
struct HelpTests {
    static let commands = [
        [], ["run"], ["list"], ["validate"], ["schema"], ["compare"], ["gate"], ["ab"], ["calibrate"], ["doctor"],
        ["baseline"], ["baseline", "save"], ["baseline", "list"], ["baseline", "show"], ["export"],
    ]

    @Test(arguments: commands)
    func helpHasExamplesThatParse(command: [String]) async throws {
        let folder = try ScratchFolder()
        let result = try await OpBenchProcess.run(command + ["--help"], in: folder)
        #expect(result.status == 0)
        #expect(result.errors == "")
        let examples = CommandLines.quoted(in: result.output)
        #expect(!examples.isEmpty)
        for example in examples { try CommandLines.parse(example) }
    }

    @Test("the commands quoted in the README parse")
    func readme() throws {
        let text = try String(contentsOf: OpBenchProcess.root.appendingPathComponent("README.md"), encoding: .utf8)
        let examples = CommandLines.quoted(in: text)
        #expect(examples.count >= 5)
        for example in examples { try CommandLines.parse(example) }
    }

    @Test("the README's workload is a valid one")
    func readmeWorkload() async throws {
        let text = try String(contentsOf: OpBenchProcess.root.appendingPathComponent("README.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```json\n").dropFirst()
        #expect(!blocks.isEmpty)
        let folder = try ScratchFolder()
        for block in blocks {
            try folder.write(block.components(separatedBy: "```")[0], to: "readme.json")
            let result = try await OpBenchProcess.run(["validate", "readme.json"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors == "")
        }
    }
}

/// Command lines as they are printed in texts.
private enum CommandLines {
    /// The lines that call `opbench` or `scripts/opbench`, without comments and redirections.
    static func quoted(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            var words = line.drop { $0 == " " }
            if words.hasPrefix("$ ") { words = words.dropFirst(2) }
            if words.hasPrefix("OPBENCH_ALLOCATOR=system ") {
                words = words.dropFirst("OPBENCH_ALLOCATOR=system ".count)
            }
            if words.hasPrefix("scripts/") { words = words.dropFirst("scripts/".count) }
            guard words.hasPrefix("opbench "), !words.hasPrefix("opbench <"), !words.hasPrefix("opbench  ") else {
                return nil
            }
            return String(words.prefix { $0 != ">" && $0 != "#" })
        }
    }

    static func parse(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        do {
            _ = try OpBench.parseAsRoot(Array(words(line).dropFirst()))
        } catch {
            Issue.record("\(line): \(OpBench.fullMessage(for: error))", sourceLocation: sourceLocation)
        }
    }

    /// The words as a shell makes them, as far as single quotes go.
    private static func words(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }
}
