import ArgumentParser
import OpBenchLaunch
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench completions`, and the values that a shell offers.
struct CompletionTests {
    /// The values for the last of the words, which belongs to an option or to the first argument.
    private func offered(
        _ words: String, in folder: ScratchFolder, shell: String? = nil
    ) async throws -> [String] {
        let words = words.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let option = words[words.count - 2].hasPrefix("--") ? words[words.count - 2] : "positional@0"
        let result = try await OpBenchProcess.run(
            ["---completion", words[0], "--", option, String(words.count), String(words.last!.count), "opbench"]
                + words, in: folder, environment: ["SAP_SHELL": shell])
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test("lists of names are continued after a comma, without those already there")
    func lists() async throws {
        let folder = try ScratchFolder()
        let backends = BackendID.available.map(\.rawValue)
        #expect(try await offered("run --backend ", in: folder) == backends)
        let further = try await offered("ab --backend engine,disp", in: folder)
        #expect(further == backends.dropFirst().map { "engine,\($0)" })
        let recorded = BackendDefinition.builtIn.map(\.id.rawValue)
        #expect(recorded.contains("tbb"))
        #expect(try await offered("explain --backend ", in: folder) == recorded)
        #expect(try await offered("run --metric ", in: folder) == SampleKind.allCases.map(\.rawValue))
        #expect(try await offered("profile --kind cpu,", in: folder) == ["cpu,trace", "cpu,offcpu", "cpu,heap"])
        #expect(try await offered("show --ratio-to ", in: folder) == recorded)
        #expect(try await offered("run --backend ", in: folder, shell: "zsh").contains("engine\\:within"))
    }

    @Test("runs and baselines are offered by id, folders after a slash")
    func runs() async throws {
        let folder = try ScratchFolder()
        for name in ["results/night", "results/day", "results/baseline/main", "other/third"] {
            try folder.write("", to: "\(name)/samples.csv")
        }
        // Bash would execute it.
        try folder.write("", to: "results/$(id)/samples.csv")
        for command in ["show", "report", "compare", "explain", "gate --ab", "gate --candidate", "export"] {
            #expect(try await offered("\(command) ", in: folder) == ["day", "night", "main"], "\(command)")
        }
        #expect(try await offered("show --results other ", in: folder) == ["third"])
        #expect(try await offered("run --output other --calibration ", in: folder) == ["third"])
        let folders = try await offered("compare results/", in: folder)
        #expect(folders.contains("results/night") && !folders.contains { $0.contains("$") })
        #expect(try await offered("show nowhere/", in: folder) == [])
    }

    @Test("figures are offered for histories and explanations")
    func figures() async throws {
        let folder = try ScratchFolder()
        #expect(try await offered("explain-columns ", in: folder).contains("throughput_ops"))
    }

    @Test("bash loads the script, and completes subcommands, options and values")
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
        try folder.write("", to: "results/night/samples.csv")
        #expect(try await completions("\(OpBenchProcess.binary) run --metric throughput,me") == ["throughput,memory"])
        #expect(try await completions("\(OpBenchProcess.binary) show ni") == ["night"])
    }

    @Test("the other shells get their own scripts", arguments: CompletionsCommand.Shell.allCases)
    func shells(shell: CompletionsCommand.Shell) {
        let script = OpBench.completionScript(for: shell.script)
        #expect(script.contains("for-gate") && script.contains("completions"))
    }
}
