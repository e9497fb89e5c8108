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
        // After the line that says when the program starts.
        #expect(result.errors.split(separator: "\n").dropFirst().first == "complaint", "\(result.errors)")
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

    @Test(
        "CPU time, waits and allocations have the files of a cell's profile", .slow,
        arguments: [
            (
                ProfileKind.cpu, ["sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done"],
                "cpu.folded"
            ),
            (.offcpu, ["sleep", "0.1"], "offcpu.folded"),
            (.heap, [OpBenchProcess.binary, "describe"], "heap-all-bytes.folded"),
        ])
    func files(kind: ProfileKind, program: [String], file: String) async throws {
        if ProfileMeans.probe(for: [kind]).forProgram(try ProgramToProfile(program))[kind].means == nil { return }
        let folder = try ScratchFolder()
        let result = try await profile(["--kind", kind.rawValue, "--"] + program, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let name = try #require(program[0].split(separator: "/").last)
        let files = folder.contents()
        #expect(files.contains("out/\(name)/\(file)"), "\(files)")
        #expect(!files.contains { $0.hasSuffix(".data") || $0.hasSuffix(".heap") })
    }

    @Test("a server is profiled until a signal ends it, as in the guide ProfilingYourProgram")
    func server() async throws {
        let folder = try ScratchFolder()
        let server = OpBenchProcess.program("thumbnail-server")
        let result = try await profile(["--", "sh", "-c", "exec \(server) 0 > ready"], in: folder) { process in
            _ = await eventuallyTrue("the server is ready") { (try? folder.read("ready"))?.hasSuffix("\n") ?? false }
            let port = try #require(folder.read("ready").split(separator: " ").last?.dropLast())
            let load = try await OpBenchProcess.run(["load", String(port), "100"], in: folder, program: server)
            #expect(load.status == 0 && load.output == "100 pictures\n", "\(load.output)")
            kill(process, SIGINT)
        }
        #expect(result.status == 0, "\(result.errors)")
        let files = folder.contents()
        #expect(files.contains("out/sh/trace.json"), "\(files)")
        let trace = try await OpBenchProcess.run(
            ["trace", "--output", "window", "out/sh/recording.oprec"], in: folder)
        #expect(trace.status == 0 && trace.output.contains("Drawing in drawings"), "\(trace.output)\(trace.errors)")
    }

    @Test("a program with rights of its own has no heap profile, and is not run for one", .enabled(if: geteuid() == 0))
    func ownRights() async throws {
        let folder = try ScratchFolder()
        let program = "\(folder.root)/own"
        try Data(contentsOf: URL(fileURLWithPath: "/bin/sh")).write(to: URL(fileURLWithPath: program))
        let nobody: uid_t = 65534
        #expect(chown(program, nobody, 0) == 0 && chmod(program, 0o4755) == 0)
        let means = ProfileMeans.probe(for: [.heap]).forProgram(try ProgramToProfile([program]))
        // Not in a folder or a process without such rights.
        guard means[.heap].means == nil else { return }
        let result = try await profile(["--kind", "heap", "--", program, "-c", "echo > made"], in: folder)
        #expect(result.status == 64 && result.errors.contains("setuid"), "\(result.errors)")
        #expect(!folder.contents().contains("made"))
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
