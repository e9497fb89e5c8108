import CRecording
import Foundation
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench init --from-recording`
struct FromRecordingTests {
    private typealias Event = crecording_event

    /// A folder with a recording, `t`: forty operations of two queues, one each `gap` nanoseconds.
    private func folder(gap: Int64 = 1_000_000) throws -> ScratchFolder {
        var made = MadeRecording(program: "hidden-program")
        made.append(crecording_named_queue, 1, "hidden-images")
        made.append(crecording_named_queue, 2, "uploads")
        made.append(crecording_named_class, 900, "HiddenResize")
        var (submitted, executed): ([Event], [Event]) = ([], [])
        submitted.append(Event(crecording_limit, at: 1, value: 3, detail: 1))
        submitted.append(Event(crecording_limit, at: 1, value: -1, detail: 2))
        for number in 0..<40 {
            let (id, begun) = (UInt64(number + 10), Int64(number + 1) * gap)
            submitted.append(Event(crecording_enqueued, id, at: begun, value: 900, detail: number < 30 ? 1 : 2))
            executed.append(Event(crecording_started, id, at: begun + 1000))
            executed.append(Event(crecording_finished, id, at: begun + 31_000, value: 20_000, detail: 1))
        }
        made.append(events: executed, thread: 43)
        made.append(events: submitted)
        made.end(at: 50 * gap)
        let folder = try ScratchFolder()
        try Data(made.bytes).write(to: URL(filePath: folder.root + "/t"))
        return folder
    }

    private func load(_ words: [String], in folder: ScratchFolder) throws -> WorkloadSpec {
        let file = folder.root + "/new.json"
        try InitCommand.parse(["--from-recording", folder.root + "/t", "-o", file, "--force"] + words).run()
        return try WorkloadSpec.load(file: file)
    }

    @Test("the workload has all operations, no name, and can be run as it is")
    func whole() throws {
        let folder = try folder()
        let spec = try load([], in: folder)
        #expect(spec.shape == .replay && spec.name == "new")
        #expect(spec.cells.map(\.operationCount) == [40])
        #expect(!spec.text.lowercased().contains("hidden"))
        #expect(Set(spec.backends).isSuperset(of: [.engine, .dispatch, .foundation]))
        let plan = try RunPlan(specs: [spec], options: RunOptions.standard)
        #expect(plan.omissions.isEmpty && !plan.samples.isEmpty)
        guard let load = spec.axes["recording"]?.first?.content as? RecordedLoad else {
            Issue.record("no recording")
            return
        }
        #expect(load.limits == [3, nil])
        #expect(load[.gaps] == [0] + [Int](repeating: 1_000_000, count: 39))
        // Of 30 µs, 1 µs was a wait for a processor.
        #expect(load[.work] == [Int](repeating: 20_000, count: 40) && load[.waits].allSatisfy { $0 == 9_000 })
    }

    @Test("the names of groups, if asked for")
    func names() throws {
        let load = try load(["--names"], in: folder()).axes["recording"]?.first?.content as? RecordedLoad
        #expect(load?.groupNames == ["HiddenResize in hidden-images", "HiddenResize in uploads"])
        #expect(load?[.groups] == [Int](repeating: 0, count: 30) + [Int](repeating: 1, count: 10))
    }

    @Test("a recording of minutes has the time that its replay takes")
    func long() throws {
        let options = RunOptions.standard
        let plan = try RunPlan(specs: [try load([], in: folder(gap: 5_000_000_000))], options: options)
        let least = try #require(
            plan.samples.map { options.timeLimit(of: $0.cell, on: $0.backend, $0.flavour) }.min())
        #expect(least > 2 * 195)
    }

    @Test("a part by time and by queue")
    func part() throws {
        let folder = try folder()
        #expect(try load(["--to", "0.0105"], in: folder).cells.map(\.operationCount) == [10])
        #expect(try load(["--from", "0.0105s", "--queue", "uploads"], in: folder).cells.map(\.operationCount) == [10])
    }

    @Test("what is no recording, or an empty part, is refused, and nothing is written")
    func refused() throws {
        let folder = try folder()
        try folder.write("{}", to: "w.json")
        let file = folder.root + "/new.json"
        for words in [
            ["w.json"], ["no-such-file"], ["t", "--from", "1s"], ["t", "--queue", "nothing"],
        ] {
            let error = try #require(throws: InputError.self) {
                try InitCommand.parse(
                    ["--from-recording", folder.root + "/" + words[0], "-o", file] + words.dropFirst()
                )
                .run()
            }
            #expect(error.file.hasSuffix(words[0]) && !error.remedy.isEmpty, "\(words): \(error)")
        }
        #expect(folder.contents() == ["t", "w.json"])
    }

    @Test(arguments: [
        [], ["chain", "--from-recording", "t"], ["chain", "--from", "1s"], ["chain", "--queue", "q"],
        ["chain", "--names"], ["--from-recording", "t", "--from", "2s", "--to", "1s"],
        ["--from-recording", "t", "--from", "x"],
    ])
    func `options that do not go together are refused`(words: [String]) {
        #expect(throws: (any Error).self) { try InitCommand.parse(words) }
    }
}
