import Foundation
import OpBenchProfile
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench profile -- PROGRAM` with real programs. Kinds that this machine cannot record are no failures unless they
/// are asked for.
@Suite("Profiles of programs", .serialized)
struct ProgramProfileTests {
    private func profile(
        _ words: [String], in folder: ScratchFolder, during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(["profile", "--output", "out"] + words, in: folder, during: during)
    }

    @Test("the program's streams and exit status pass through, and the summary goes to standard error")
    func streams() async throws {
        let folder = try ScratchFolder()
        let script = "cat; echo to $0; echo complaint >&2; exit 7"
        let result = try await profile(["--", "sh", "-c", script, "you"], in: folder)
        #expect(result.status == 7, "\(result.errors)")
        #expect(result.output == "to you\n")
        #expect(result.errors.hasPrefix("complaint\n"))
        for fact in ["exit status 7", "cpu", "offcpu"] { #expect(result.errors.contains(fact), "\(result.errors)") }
    }

    @Test("options after -- are the program's")
    func options() async throws {
        let folder = try ScratchFolder()
        let result = try await profile(["--", "echo", "--kind", "--", "cpu"], in: folder)
        #expect(result.status == 0 && result.output == "--kind -- cpu\n", "\(result.errors)")
    }

    @Test("a program that a signal ends has the status that a shell reports")
    func killed() async throws {
        let folder = try ScratchFolder()
        let result = try await profile(["--", "sh", "-c", "kill -KILL $$"], in: folder)
        #expect(result.status == 128 + SIGKILL, "\(result.errors)")
        #expect(result.errors.contains("SIGKILL"))
    }

    @Test("--seconds ends a program that does not end by itself, also one that ignores SIGINT")
    func seconds() async throws {
        let folder = try ScratchFolder()
        let result = try await profile(["--seconds", "0.1", "--", "sleep", "10000"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let other = try ScratchFolder()
        let ignoring = try await profile(
            ["--seconds", "0.1", "--", "sh", "-c", "trap '' INT; exec sleep 10000"], in: other)
        #expect(ignoring.status == 0, "\(ignoring.errors)")
    }

    @Test("a signal to opbench reaches the program, whose profile is kept", arguments: [SIGINT, SIGTERM, SIGUSR1])
    func signals(signal: Int32) async throws {
        let folder = try ScratchFolder()
        let script = "trap 'echo bye; exit 5' INT TERM USR1; echo > ready; while :; do sleep 0.01; done"
        let result = try await profile(["--", "sh", "-c", script], in: folder) { process in
            _ = await eventuallyTrue("the program is ready") { folder.contents().contains("ready") }
            kill(process, signal)
        }
        #expect(result.status == 5 && result.output == "bye\n", "\(result.errors)")
        #expect(result.errors.contains("exit status 5"))
    }

    @Test("CPU time, waits and allocations have the files of a cell's profile", .slow)
    func files() async throws {
        let means = ProfileMeans.probe().forOtherPrograms
        let kinds = [ProfileKind.cpu, .offcpu, .heap].filter { means[$0].means != nil }
        if kinds.isEmpty { return }
        let folder = try ScratchFolder()
        let result = try await profile(
            ["--kind", kinds.map(\.rawValue).joined(separator: ","), "--", OpBenchProcess.binary, "shapes"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let files = Set(folder.contents())
        let expected: [ProfileKind: [String]] = [
            .cpu: ["cpu.svg", "cpu.folded", "cpu.speedscope.json"], .offcpu: ["offcpu.folded"],
            .heap: ["heap-all-bytes.svg", "heap-live-count.folded"],
        ]
        for name in kinds.flatMap({ expected[$0] ?? [] }) { #expect(files.contains("out/opbench/\(name)"), "\(files)") }
        #expect(!files.contains { $0.hasSuffix(".data") || $0.hasSuffix(".heap") })
    }

    @Test("bad usage is rejected before anything is written or run")
    func refusals() async throws {
        let folder = try ScratchFolder()
        try folder.write("text", to: "text")
        try folder.write("text", to: "program")
        chmod("\(folder.root)/program", 0o755)
        let before = folder.contents()
        var text = ""
        for line in [
            "--", "-- ./none", "-- no-such-program-in-path", "-- ./text", "-- ./program", "-- .", "--seconds 0 -- true",
            "--seconds 3601 -- true", "--timeout 5 -- true", "--backend engine -- true", "w.json -- true",
            "--kind tarce -- true", "--output text -- true",
        ] {
            let result = try await OpBenchProcess.run(
                ["profile"] + line.split(separator: " ").map(String.init), in: folder)
            #expect(result.status == 64 && folder.contents() == before, "\(line)")
            text += "\(line)\n    \(result.errors)"
        }
        Golden("program-profile").expect(text, "refusals", replacing: [folder.root: "FOLDER"])
    }
}
