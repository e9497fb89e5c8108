import ArgumentParser
import Foundation
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench describe` and `opbench init`
struct ShapeCommandTests {
    @Test(
        "every shape has a line; a single shape has its whole definition",
        arguments: ShapeDefinition.all.map(\.shape))
    func shapes(shape: Shape) throws {
        let definition = ShapeDefinition.of(shape)
        #expect(DescribeCommand.list(width: nil).contains("\n  \(shape.rawValue) "))
        let text = ShapeText.of(definition)
        #expect(text.hasPrefix("\(shape.rawValue): \(definition.summary)\n"))
        let flat = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for parameter in definition.parameters {
            #expect(flat.contains(parameter.summary) && flat.contains(parameter.facts), "\(parameter.name)")
        }
        #expect(text.components(separatedBy: "\n").dropFirst().allSatisfy { $0.count <= 130 })
    }

    @Test("the reason why a backend does not support a shape")
    func support() {
        Golden("shape").expect(ShapeText.of(.of(.suspendResume)), "suspend_resume")
        #expect(!ShapeBackends.able(.of(.suspendResume)).contains(.serial))
        // Both baselines, so that each backend of a new chain has a ratio.
        #expect(Set(BackendID.baselines).isSubset(of: ShapeBackends.able(.of(.chain))))
    }

    @Test("a new workload can be run on every backend that it lists", arguments: ShapeDefinition.all.map(\.shape))
    func runnable(shape: Shape) throws {
        let folder = try ScratchFolder()
        let file = folder.root + "/new.json"
        try InitCommand.parse([shape.rawValue, "-o", file]).run()
        let spec = try WorkloadSpec.load(file: file)
        #expect(spec.name == "new" && spec.backends.count >= 2)
        let plan = try RunPlan(specs: [spec], options: RunOptions.standard)
        #expect(plan.omissions.isEmpty && !plan.samples.isEmpty)
    }

    @Test("an existing file stays, unless it is to be replaced")
    func force() throws {
        let folder = try ScratchFolder()
        try folder.write("mine", to: "w.json")
        let file = folder.root + "/w.json"
        let error = try #require(throws: InputError.self) { try InitCommand.parse(["chain", "-o", file]).run() }
        #expect(error.remedy.contains("--force"))
        #expect(try folder.read("w.json") == "mine" && folder.contents() == ["w.json"])
        try InitCommand.parse(["chain", "-o", file, "--force"]).run()
        #expect(try WorkloadSpec.load(file: file).shape == .chain)
        #expect(throws: InputError.self) { try InitCommand.parse(["chain", "-o", folder.root + "/no/w.json"]).run() }
        #expect(throws: InputError.self) { try InitCommand.parse(["chain", "-o", folder.root + "/"]).run() }
        #expect(throws: InputError.self) { try InitCommand.parse(["chian", "-o", file]).run() }
    }

    @Test("a file that init writes is listed and run unchanged", .slow)
    func measured() async throws {
        let folder = try ScratchFolder()
        let printed = try await OpBenchProcess.runHere(["init", "chain", "-o", "-"], in: folder)
        #expect(printed.status == 0 && printed.errors == "" && folder.contents() == [])
        #expect(try await OpBenchProcess.runHere(["init", "chain"], in: folder).status == 0)
        #expect(try folder.read("chain.json") == printed.output)
        let listed = try await OpBenchProcess.runHere(["list", "--quick", "chain.json"], in: folder)
        #expect(listed.status == 0 && listed.output.contains("\n  chain\n    engine, foundation, "))
        let run = try await OpBenchProcess.run(["run", "--quick", "--no-progress", "chain.json"], in: folder)
        #expect(run.status == 0, "\(run.errors)")
    }
}

/// Names of subcommands.
struct SubcommandTests {
    @Test("a word that is not a subcommand is reported as such, with the nearest ones")
    func misspelt() throws {
        var text = ""
        for (line, nearest) in [
            ("rnu w.json", "run"), ("validte", "validate"), ("history lsit", "list"), ("help gaet", "gate"),
            ("zzzzzz", "run, list, "),
        ] {
            let words = line.split(separator: " ").map(String.init)
            let error = try #require(Subcommand(in: words, of: OpBench.self).mistake)
            #expect("\(error)".contains(nearest), "\(error)")
            text += "\(line)\n    \(error)\n"
        }
        Golden("subcommands").expect(text, "misspelt")
    }

    @Test(arguments: [
        [], ["run", "rnu"], ["--version"], ["history", "add", "x"], ["history"], ["baseline", "x"], ["help", "run"],
    ])
    func `correct calls, or calls with other mistakes, get no suggestion`(arguments: [String]) {
        #expect(Subcommand(in: arguments, of: OpBench.self).mistake == nil)
    }
}
