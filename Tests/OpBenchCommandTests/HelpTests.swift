import ArgumentParser
import Foundation
import OpBenchModel
import Testing

@testable import OpBenchCommand

/// The commands in the help, the README and the guides can be typed.
struct HelpTests {
    static let commands = [
        [], ["run"], ["merge"], ["list"], ["validate"], ["compare"], ["gate"], ["ab"], ["bisect"],
        ["profile"], ["explain"], ["trace"],
        ["doctor"], ["baseline"],
        ["show"], ["describe"], ["report"],
        ["runs"], ["init"],
        ["history"], ["history", "add"], ["history", "list"], ["history", "trend"],
        ["history", "report"],
    ]

    @Test("its examples parse, and in 80 columns no line of an example or a table is broken", arguments: commands)
    func help(command: [String]) async throws {
        let result = try await OpBenchProcess.runHere(command + ["--help"], in: try ScratchFolder())
        #expect(result.status == 0)
        #expect(result.errors == "")
        let examples = CommandLines.quoted("opbench ", in: result.output.split(separator: "\n"))
        #expect(!examples.isEmpty)
        for example in examples { try CommandLines.parse(example) }
        let overview = result.output.components(separatedBy: "\nUSAGE:")[0].components(separatedBy: "\n")
        for (line, next) in zip(overview, overview.dropFirst()) where line.hasPrefix("  ") {
            #expect(next.isEmpty || next.hasPrefix("  "), "“\(next)” was broken off")
        }
    }

    @Test("-h fits a screen, and leaves out only what --help has", arguments: commands.filter { !$0.isEmpty })
    func brief(command: [String]) throws {
        let brief = try #require(BriefHelp.text(for: command + ["-h"], of: OpBench.self)).split(separator: "\n")
        #expect(brief.count <= 60)
        #expect(brief.filter { $0.hasPrefix("  opbench ") }.count <= 3)
        let options = brief.filter { $0.hasPrefix("  -") }.compactMap { $0.split(separator: " ").first }
        #expect(!options.isEmpty && options.count <= 18)
        if command == ["run"] { #expect(options.contains("--backend") && !options.contains("--shard")) }
        #expect(BriefHelp.text(for: command + ["--help"], of: OpBench.self) == nil)
    }

    @Test("the commands quoted in README, guides and articles parse")
    func articles() throws {
        let examples = Set(try Articles.all().flatMap(Articles.commands))
        #expect(examples.count >= 40)
        for example in examples { try CommandLines.parse(example) }
    }

    @Test("the guides' workload and policy are valid")
    func examplesInJSON() throws {
        let blocks = try Articles.all().flatMap { article in
            try Articles.text(article).components(separatedBy: "```json\n").dropFirst().map {
                $0.components(separatedBy: "```")[0]
            }
        }
        let policies = blocks.filter { $0.contains("\"rules\"") }
        let workloads = blocks.filter { !policies.contains($0) }
        #expect(!policies.isEmpty && !workloads.isEmpty)
        for policy in policies { _ = try GatePolicy.decode(text: policy, file: "guide.json") }
        for workload in workloads {
            let spec = try WorkloadSpec.decode(text: workload, file: "guide.json")
            #expect(spec.warnings() == [], "\(workload)")
        }
    }
}

/// Texts for people: the README and other files, the guides, the engine's articles. By path in the package.
private enum Articles {
    static func all() throws -> [String] {
        let catalogues = ["Sources/opbench/opbench.docc", "Sources/OperationEngine/OperationEngine.docc"]
        let inCatalogues = try catalogues.flatMap { catalogue in
            try FileManager.default.subpathsOfDirectory(atPath: path(catalogue)).map { "\(catalogue)/\($0)" }
        }
        return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "workloads/README.md"]
            + inCatalogues.filter { $0.hasSuffix(".md") }.sorted()
    }

    static func text(_ article: String) throws -> String { try String(contentsOfFile: path(article), encoding: .utf8) }

    /// The calls of opbench in an article, on separate lines or within others.
    static func commands(_ article: String) throws -> [String] {
        let text = try text(article)
        let spans = text.matches(of: /`([^`\n]+)`/).map(\.1)
        // Through the script, since sentences may begin with the program's name.
        return CommandLines.quoted("scripts/opbench ", in: text.split(separator: "\n") + spans)
    }

    private static func path(_ name: String) -> String { OpBenchProcess.root.appendingPathComponent(name).path }
}

/// Command lines as printed in texts.
private enum CommandLines {
    /// The lines that call a program, without comments and redirections.
    static func quoted(_ program: String, in lines: [Substring]) -> [String] {
        lines.compactMap { line in
            var words = line.drop { $0 == " " }
            if words.hasPrefix("$ ") { words = words.dropFirst(2) }
            if words.hasPrefix("OPBENCH_ALLOCATOR=system ") {
                words = words.dropFirst("OPBENCH_ALLOCATOR=system ".count)
            }
            guard words.hasPrefix(program), !words.hasPrefix("opbench <"), !words.hasPrefix("opbench  ") else {
                return nil
            }
            return String(words.prefix { $0 != ">" && $0 != "#" })
        }
    }

    static func parse(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        do {
            _ = try OpBench.command(of: Array(words(line).dropFirst()))
        } catch  where OpBench.exitCode(for: error).isSuccess {
            // A request for help or for a completion script.
        } catch {
            Issue.record("\(line): \(OpBench.fullMessage(for: error))", sourceLocation: sourceLocation)
        }
    }

    /// The words as a shell would split them, with support for single quotes.
    private static func words(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }
}
