import CRecording
import Foundation
import OpBenchProfile
import TestSupport
import Testing

/// `opbench trace` with recordings that are made block by block.
@Suite("Traces of recordings")
struct TraceTests {
    /// A server with two workers: 200 drawings at a limit of 1, each hundredth a long one, and an answer after each.
    private static func server(body: Int = 60_000, lost: UInt64 = 0, hasEnd: Bool = true) -> [UInt8] {
        typealias Event = crecording_event
        var made = MadeRecording()
        made.append(crecording_named_queue, 1, "drawings")
        made.append(crecording_named_queue, 2, "answers")
        made.append(crecording_named_class, 900, "Drawing")
        made.append(crecording_named_class, 901, "Answer")
        for (thread, name) in [(42, "reader"), (43, "engine normal 1"), (44, "engine normal 2")] {
            made.append(crecording_named_thread, UInt64(thread), name)
        }
        func event(
            _ kind: crecording_kind, _ subject: Int = 0, at time: Int, value: Int = 0, detail: Int = 0,
            priority: Int = 0
        ) -> Event {
            Event(
                time: Int64(time), subject: UInt64(subject), value: Int64(value), detail: UInt32(detail),
                kind: UInt8(kind.rawValue), flags: 0, priority: Int8(priority), reserved: 0)
        }
        var reader = [
            event(crecording_limit, at: 1, value: 1, detail: 1), event(crecording_limit, at: 1, value: 2, detail: 2),
        ]
        var (drawer, answerer): ([Event], [Event]) = ([], [])
        var free = 0
        for number in 0..<200 {
            let (drawing, answer, submit) = (2 * number + 10, 2 * number + 11, 1000 + number * 100_000)
            let body = number % 100 == 99 ? 5_000_000 : body
            reader += [
                event(
                    crecording_enqueued, drawing, at: submit, value: 900, detail: 1, priority: number % 2 == 0 ? 4 : 0),
                event(crecording_ready, drawing, at: submit),
                event(crecording_enqueued, answer, at: submit + 500, value: 901, detail: 2),
                event(crecording_dependency, answer, at: submit + 500, value: drawing),
            ]
            let start = max(free, submit) + 2000
            free = start + body
            drawer += [
                event(crecording_started, drawing, at: start, detail: number % 10 == 0 ? 2 : 0),
                event(crecording_finished, drawing, at: free, value: body),
                event(crecording_ready, answer, at: free + 100), event(crecording_notified, drawing, at: free + 200),
            ]
            answerer += [
                event(crecording_started, answer, at: free + 5000),
                event(crecording_finished, answer, at: free + 9000, value: 3000),
                event(crecording_notified, answer, at: free + 9100),
            ]
        }
        made.append(events: reader, thread: 42)
        made.append(events: drawer, thread: 43)
        made.append(events: answerer, thread: 44, lost: lost)
        if hasEnd { made.end(at: Int64(free + 10_000)) }
        return made.bytes
    }

    private func folder(with recording: [UInt8]) throws -> ScratchFolder {
        let folder = try ScratchFolder()
        try Data(recording).write(to: URL(filePath: "\(folder.root)/server.oprec"))
        return folder
    }

    private func trace(_ words: [String], in folder: ScratchFolder) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(["trace", "--no-progress", "--output", "out"] + words, in: folder)
    }

    @Test("a recording has the summary and the files of a trace")
    func summary() async throws {
        let folder = try folder(with: Self.server())
        let result = try await trace(["server.oprec"], in: folder)
        #expect(result.status == 0 && result.errors == "")
        Golden("trace").expect(result.output, "whole")
        let files = ["tail.json", "trace.json"].map { "out/server/\($0)" }
        #expect(folder.contents() == ["out", "out/server"] + files + ["server.oprec"])
        let tails = try JSONDecoder().decode(Tails.self, from: Data(folder.read(files[0]).utf8))
        #expect(tails.groups.map(\.operations) == [200, 200] && tails.groups.map(\.slow) == [3, 3])
    }

    @Test("a window narrows it")
    func window() async throws {
        for (options, count) in [
            (["--from", "10ms"], 200), (["--to", "10ms"], 200), (["--from", "5ms", "--to", "0.01"], 100),
        ] {
            let folder = try folder(with: Self.server())
            let result = try await trace(options + ["server.oprec"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("  \(count) operations in "), "\(result.output)")
        }
    }

    @Test("a limit among the causes: the commands that try others on the same part")
    func limit() async throws {
        let folder = try folder(with: Self.server(body: 300_000))
        for window in [[], ["--from", "0.005"], ["--to", "10ms"]] {
            let result = try await trace(window + ["server.oprec"], in: folder)
            #expect(result.status == 0 && result.output.contains("limit: the limit 1 of drawings"), "\(result.output)")
            #expect(result.errors.contains("--from-recording server.oprec"), "\(result.errors)")
            #expect(result.errors.contains("--from 5000000ns") == window.contains("--from"))
            #expect(result.errors.contains("--to 10000000ns") == window.contains("--to"))
            try FileManager.default.removeItem(atPath: "\(folder.root)/out")
        }
    }

    @Test("what a recording lacks comes first")
    func flaws() async throws {
        let zeros = [UInt8](repeating: 0, count: 4096)
        let folder = try folder(with: Self.server(lost: 17, hasEnd: false) + zeros)
        let result = try await trace(["server.oprec"], in: folder)
        #expect(result.status == 0)
        Golden("trace").expect(result.output.split(separator: "\n").prefix(7).joined(separator: "\n") + "\n", "flaws")
    }

    @Test("bad input is refused, and nothing is written")
    func refusals() async throws {
        let folder = try folder(with: Self.server())
        var damaged = Self.server()
        damaged[80] ^= 1
        try Data(damaged).write(to: URL(filePath: "\(folder.root)/damaged.oprec"))
        try folder.write("text", to: "text")
        let before = folder.contents()
        var text = ""
        for line in [
            "none.oprec", "text", ".", "damaged.oprec", "--from 1h server.oprec", "--from 1h --to 2h server.oprec",
            "--from 2s --to 1s server.oprec", "--from 1d server.oprec", "--from -1s server.oprec",
            "--output text server.oprec", "--output . server.oprec", "",
        ] {
            let result = try await OpBenchProcess.run(
                ["trace"] + line.split(separator: " ").map(String.init), in: folder)
            #expect(result.status == 64 && folder.contents() == before, "\(line)")
            text += "\(line)\n    \(result.errors)"
        }
        Golden("trace").expect(text, "refusals", replacing: [folder.root: "FOLDER"])
    }

    @Test("output that cannot be written ends with 1")
    func fullDevice() async throws {
        let folder = try folder(with: Self.server())
        let result = try await OpBenchProcess.run(
            ["trace", "--output", "out", "server.oprec"], in: folder, outputTo: "/dev/full")
        #expect(result.status == 1 && !result.errors.isEmpty)
    }
}
