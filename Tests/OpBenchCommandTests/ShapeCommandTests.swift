import ArgumentParser
import Foundation
import OpBenchLaunch
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench shapes` and `opbench init`
struct ShapeCommandTests {
    @Test(
        "every shape has a line; a single shape has its whole definition",
        arguments: ShapeDefinition.all.map(\.shape))
    func shapes(shape: Shape) throws {
        let definition = ShapeDefinition.of(shape)
        #expect(ShapeText.list().contains("\n\(shape.rawValue) "))
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
    }

    @Test("a new workload can be run on every backend that it lists", arguments: ShapeDefinition.all.map(\.shape))
    func runnable(shape: Shape) throws {
        let folder = try ScratchFolder()
        let file = folder.root + "/new.json"
        try InitCommand.parse([shape.rawValue, "-o", file]).run()
        let spec = try WorkloadSpec.load(file: file)
        #expect(spec.name == "new" && spec.backends.count >= 2)
        let plan = try RunPlan(specs: [spec], options: RunOptions())
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
        let printed = try await OpBenchProcess.run(["init", "chain", "-o", "-"], in: folder)
        #expect(printed.status == 0 && printed.errors == "" && folder.contents() == [])
        #expect(try await OpBenchProcess.run(["init", "chain"], in: folder).status == 0)
        #expect(try folder.read("chain.json") == printed.output)
        let listed = try await OpBenchProcess.run(["list", "--quick", "chain.json"], in: folder)
        #expect(listed.status == 0 && listed.output.contains("\n  chain\n    engine, foundation, "))
        let run = try await OpBenchProcess.run(["run", "--quick", "--no-progress", "chain.json"], in: folder)
        #expect(run.status == 0, "\(run.errors)")
    }
}

/// Names of subcommands.
struct SubcommandTests {
    @Test("a word that is not a subcommand is reported as such, with the nearest one, or all")
    func misspelt() throws {
        var text = ""
        for (line, nearest) in [
            ("rnu w.json", "`run`"), ("validte", "`validate`"), ("baseline lst", "`list`"), ("help gaet", "`gate`"),
            ("zzzzzz", "run, merge, list, "),
        ] {
            let words = line.split(separator: " ").map(String.init)
            let error = try #require(MisspeltSubcommand.error(in: words, of: OpBench.self))
            #expect("\(error)".contains(nearest), "\(error)")
            text += "\(line)\n    \(error)\n"
        }
        Golden("subcommands").expect(text, "misspelt")
    }

    @Test(arguments: [[], ["run", "rnu"], ["--version"], ["baseline", "list", "x"], ["baseline"], ["help", "run"]])
    func `correct calls, or calls with other mistakes, get no suggestion`(arguments: [String]) {
        #expect(MisspeltSubcommand.error(in: arguments, of: OpBench.self) == nil)
    }
}

/// `opbench completions`
struct CompletionTests {
    @Test("bash loads the script, and completes subcommands, options and shapes")
    func bash() async throws {
        let folder = try ScratchFolder()
        try folder.write(OpBench.completionScript(for: .bash), to: "opbench.bash")
        func completions(_ words: String) async throws -> [String] {
            let script = """
                set -eu; set +u
                source opbench.bash
                function_name=$(complete -p opbench | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
                COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="${COMP_WORDS[*]}"
                COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                "$function_name" opbench "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" || true
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let result = try await Program("/bin/bash", ["-c", script], in: folder.root).printed(errorLimit: 100_000)
            #expect(result.isSuccess, "\(result.errors)")
            return result.text.split(separator: "\n").map { $0.filter { $0 != " " } }
        }
        #expect(try await completions("opbench ru").sorted() == ["run", "runs"])
        #expect(try await completions("opbench run --for").contains("--for-gate"))
        #expect(try await completions("opbench init cha").contains("chain"))
    }

    @Test("the other shells get their own scripts", arguments: CompletionsCommand.Shell.allCases)
    func shells(shell: CompletionsCommand.Shell) {
        let script = OpBench.completionScript(for: shell.script)
        #expect(script.contains("for-gate") && script.contains("completions"))
    }
}
