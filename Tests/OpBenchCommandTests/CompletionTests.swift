import ArgumentParser
import OpBenchLaunch
import TestSupport
import Testing

@testable import OpBenchCommand

/// The completion scripts that the argument parser makes.
struct CompletionTests {
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
        #expect(try await completions("opbench run --metric throu") == ["throughput"])
    }
}
