import Foundation
import Glibc
import OpBenchLaunch
import TestSupport
import Testing

/// If the system refuses threads or descriptors, opbench reports it and ends; libdispatch would wait forever, or trap.
/// Run as a user whose processes can be limited: RLIMIT_NPROC does not apply to root.
@Suite(
    "Scarce threads and descriptors",
    .enabled(
        if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0,
        "needs root, and setpriv of util-linux, to become a user whose threads can be limited"))
struct ScarcityTests {
    /// A user id that nobody else has, so that no other process counts.
    private static let user = 54_321

    private struct Outcome {
        var status: Int32
        var errors: String
        var files: [String]
    }

    private func run(limits: String) async throws -> Outcome {
        let folder = try ScratchFolder()
        chmod(folder.root, 0o777)
        // The build folder may be inaccessible to others.
        ExecutableFile.copy(OpBenchProcess.binary, to: folder.root + "/opbench")
        try folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 100, "work_ns": 0},
             "backends": ["engine"], "sample_kinds": ["throughput"]}
            """, to: "w.json")
        let result = try await Program(
            "/usr/bin/setpriv",
            [
                "--reuid=\(Self.user)", "--regid=\(Self.user)", "--clear-groups",
                "--bounding-set=-all", "--inh-caps=-all",
                "bash", "-c", "ulimit \(limits) && exec ./opbench run --quick --no-progress --run-id r w.json",
            ], in: folder.root
        ).printed(errorLimit: 1 << 20)
        guard case .exited(let status) = result.ending else {
            return Outcome(status: -1, errors: "\(result.ending)", files: [])
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.root).filter { $0 == "results" }
        return Outcome(status: status, errors: result.errors, files: files)
    }

    @Test(
        "a rejected request of the system is reported with the remedy, and nothing is written",
        arguments: ["-u 1", "-u 5", "-n 14"])
    func refused(limits: String) async throws {
        let outcome = try await run(limits: limits)
        #expect(outcome.status == 1 && outcome.errors.contains("ulimit \(limits.prefix(2))"), "\(outcome.errors)")
        #expect(outcome.files == [])
    }

    @Test("with enough for a run, it is measured")
    func enough() async throws {
        let outcome = try await run(limits: "-u 100 -n 128")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.files == ["results"])
    }
}
