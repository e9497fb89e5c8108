import Foundation
import TestSupport
import Testing

/// The output of `list` and `validate`.
struct ListingTests {
    private static let workload = """
        {"name": "w", "summary": "Two depths", "shape": "chain", "parameters": {"depth": [10, 20], "work_ns": 0},
         "backends": ["engine", "dispatch"],
         "skip": [{"backend": "dispatch", "when": {"depth": {"above": 15}}, "reason": "too deep"},
                  {"backend": "engine", "when": {"depth": 30}, "reason": "never"}]}
        """

    @Test(
        "list and validate print cells, backends and skips, warn about rules that match nothing, and write no file",
        arguments: [
            "list --blocks 1 w.json", "validate w.json",
            "list w.json --set depth=1,2,3 --set order=reverse --filter depth=[23] --backend dispatch:notify,engine",
        ])
    func listing(line: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.workload, to: "w.json")
        let result = try await OpBenchProcess.runHere(line.split(separator: " ").map(String.init), in: folder)
        #expect(result.status == 0)
        #expect(folder.contents() == ["w.json"])
        // The duration of a run, after the last empty line, depends on the machine.
        let cells = result.output.components(separatedBy: "\n\n")[0]
        Golden("listing").expect("\(cells)\n\n\(result.errors)", line)
    }
}
