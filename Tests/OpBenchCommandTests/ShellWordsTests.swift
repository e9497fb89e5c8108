import OpBenchLaunch
import OpBenchModel
import TestSupport
import Testing

/// Words as a shell reads them.
struct ShellWordsTests {
    @Test("quoted words come out of a shell unchanged, on one line")
    func quoting() async throws {
        let words = [
            "w.json", "", "a b", "it's", "'", "\"$HOME\"", "`id`", "a\\b", "*.json", "~", "x'\u{301}", "-n", "é ü",
            "a\nb\u{1B}[2J",
            "\t'\\", "\u{9B}2J", "a=b,c=d", "\u{202E}gpj", "a;b&c|d>e#f!", "[a]{b,c}",
        ]
        let line = ShellWords.joined(words)
        #expect(!line.contains("\n") && line.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x9B })
        let result = try await Program("/bin/bash", ["-c", "printf '%s\\0' \(line)"]).printed()
        let printed = result.bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
        #expect(printed.map { String(decoding: $0, as: UTF8.self) } == words)
    }

    @Test func plainWordsStayPlain() {
        #expect(
            ShellWords.joined(["run", "--blocks", "15", "workloads/a-b_1.json", "x=1,2"])
                == "run --blocks 15 workloads/a-b_1.json x=1,2")
    }

    @Test(arguments: [
        ("run --quick -- w.json", "run --run-id r --resume --quick -- w.json"),
        ("run w.json --run-id r", "run --resume w.json --run-id r"),
        ("ab --run-id=r a b w.json --resume", "ab --run-id=r a b w.json --resume"),
    ])
    func `a run is continued by the command that began it`(begun: String, again: String) {
        func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
        let line = ShellWords.continuing(["opbench"] + words(begun) + ["--filter", "a b"], as: "r")
        #expect(line == ShellWords.ofThisProgram(words(again)) + " --filter 'a b'")
    }
}
