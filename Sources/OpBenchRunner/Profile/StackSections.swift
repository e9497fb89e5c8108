import Foundation
import OpBenchModel
import OpBenchProfile

extension ProfileTaker {
    // MARK: CPU time

    func cpu(_ means: ProfileMeans.Means, _ plain: PlainFigures) async throws -> ProfileSection {
        let (profile, answer, notes) = try await cpuProfile(means)
        let files = try write(profile, as: "cpu", "CPU time", operations: answer.operations)
        let report = StackReport(profile, on: target.backend, operations: answer.operations)
        return ProfileSection(
            .cpu, means: means.rawValue, lines: report.lines() + Self.check(report.table, answer) + notes, files: files,
            perturbation: plain.perturbation(of: answer))
    }

    /// If the classes sum up to less than this part of the CPU time, the summary describes the missing part.
    private static let leastSampled = 0.95
    /// Limit of the time that a switch may hide, in nanoseconds; measurements gave 4,000 to 5,000.
    private static let mostHidden = 20_000.0

    /// Checks the classes against the kernel's clock, which is independent of samples. A sampler's clock stops while
    /// the kernel switches threads.
    private static func check(_ table: ClassTable, _ answer: ProfileAnswer) -> [String] {
        let operations = Double(max(1, answer.operations))
        let counted = Double(answer.cpuNanoseconds)
        let switches = Double(answer.voluntarySwitches + answer.involuntarySwitches)
        var line =
            "the process used \(ProfileText.time(counted / operations)) of CPU time per operation between the marks; "
            + "samples cover \(ProfileText.share(Double(table.total), of: counted)) of it"
        let missing = counted - Double(table.total)
        if Double(table.total) < leastSampled * counted {
            if missing > mostHidden * switches {
                line += "; the rest was not sampled"
            } else {
                line +=
                    "; the rest is \(ProfileText.time(missing / switches)) for each of "
                    + "\(ProfileText.digits(switches / operations)) switches per operation, which no sampler sees fully"
            }
        }
        return [line]
    }

    /// The profile of CPU time between the marks.
    func cpuProfile(
        _ means: ProfileMeans.Means
    ) async throws -> (profile: StackProfile, answer: ProfileAnswer, notes: [String]) {
        if means == .signals { return try await signalProfile() }
        defer { discard(PerfEvents.cpu.fileName) }
        let answer = try await take(.perfCPU)
        let read = try await PerfReader(process: answer.process, marks: answer.markedTime, threads: answer.threadNames)
            .cpu(
                stage.folder.file(PerfEvents.cpu.fileName))
        var notes: [String] = []
        if read.lacksKernel { notes.append("kernel code is not included") }
        if read.lost > 0 { notes.append("\(read.lost) samples were lost, so the figures are too low") }
        if read.skippedLines > 0 { notes.append("\(read.skippedLines) lines of perf's output were not understood") }
        return (read.profile, answer, notes)
    }

    private func signalProfile() async throws -> (StackProfile, ProfileAnswer, [String]) {
        defer { discard(RawStacksFile.name) }
        let answer = try await take(.signals)
        let raw = try RawStacksFile.read(try bytes(of: RawStacksFile.name)).during(answer.markedTime.ranges)
        let symbols = try await Symbolizer().names(of: raw.lookUps, in: raw.map)
        var notes = symbols.notes
        if raw.lostSamples > 0 { notes.append("\(raw.lostSamples) samples were lost, so the figures are too low") }
        if raw.unsampledThreads > 0 {
            notes.append("\(raw.unsampledThreads) threads got no timer and are not included; see ulimit -i")
        }
        return (raw.profile(symbols.symbols, threadNames: answer.threadNames), answer, notes)
    }

    // MARK: Waiting

    func offCPU(_ means: ProfileMeans.Means, _ plain: PlainFigures) async throws -> ProfileSection {
        if means == .schedule {
            defer { discard(ScheduleRecorder.fileName) }
            let answer = try await take(.schedule)
            let schedules = try ScheduleRecorder.read(folder: stage.folder.path).named(answer.threadNames)
            return ProfileSection(
                .offcpu, means: means.rawValue, lines: schedules.lines(operations: answer.operations),
                perturbation: plain.perturbation(of: answer))
        }
        let file = PerfEvents.wakeUps.fileName
        defer { discard(file) }
        let answer = try await take(means == .perf ? .perfWakeUps : .perfSwitches)
        let profile = try await PerfReader(
            process: answer.process, marks: answer.markedTime, threads: answer.threadNames
        )
        .offCPU(
            stage.folder.file(file))
        var files: [String] = []
        for (name, title, part) in [
            ("offcpu", "Waits", profile.blocked), ("offcpu-wakers", "Who ends waits", profile.wakers),
        ] where part.total > 0 {
            files += try write(part, as: name, title, operations: answer.operations)
        }
        return ProfileSection(
            .offcpu, means: means.rawValue,
            lines: OffCPUReport(profile, on: target.backend, operations: answer.operations).lines(), files: files,
            perturbation: plain.perturbation(of: answer))
    }

    // MARK: Memory

    func heap(_ plain: PlainFigures) async throws -> ProfileSection {
        let (profiles, answer, notes) = try await heapProfiles()
        var (lines, files): ([String], [String]) = ([], [])
        for (name, title, profile, operations) in profiles {
            lines.append("\(title):")
            let report = StackReport(profile, on: target.backend, operations: operations)
            lines += report.lines(functions: 5).map { "  \($0)" }
            if profile.total > 0 { files += try write(profile, as: name, title, operations: operations) }
        }
        return ProfileSection(
            .heap, means: "jemalloc's profiler, every allocation", lines: lines + notes, files: files,
            perturbation: plain.perturbation(of: answer))
    }

    typealias HeapPart = (name: String, title: String, profile: StackProfile, operations: Int)

    /// Memory in use at the fence of the first round, and all allocations between the marks.
    func heapProfiles() async throws -> (parts: [HeapPart], answer: ProfileAnswer, notes: [String]) {
        defer { for name in [HeapSampler.liveFile, HeapSampler.allFile, HeapSampler.countsFile] { discard(name) } }
        let answer = try await take(.heap, environment: HeapSampler.environment())
        let live = try HeapProfile(try bytes(of: HeapSampler.liveFile))
        let all = try HeapProfile(try bytes(of: HeapSampler.allFile))
        let symbols = try await Symbolizer().names(of: live.lookUps + all.lookUps, in: all.map)
        let parts: [HeapPart] = [
            ("heap-all-bytes", "Bytes allocated", all.profile(.allBytes, symbols.symbols), answer.operations),
            ("heap-all-count", "Allocations", all.profile(.allAllocations, symbols.symbols), answer.operations),
            (
                "heap-live-bytes", "Bytes live at the fence", live.profile(.liveBytes, symbols.symbols),
                answer.firstOperations
            ),
            (
                "heap-live-count", "Allocations live at the fence", live.profile(.liveAllocations, symbols.symbols),
                answer.firstOperations
            ),
        ]
        return (parts, answer, symbols.notes)
    }

    // MARK: Files

    /// Writes the three views of a profile.
    ///
    /// - Returns: the files' names.
    private func write(
        _ profile: StackProfile, as name: String, _ title: String, operations: Int
    ) throws -> [String] {
        let full = "\(title): \(target.cell.id) on \(target.backend.rawValue)"
        let files = [
            ("\(name).svg", FlameGraph(profile, on: target.backend, title: full, operations: operations).svg()),
            ("\(name).folded", profile.folded()), ("\(name).speedscope.json", profile.speedscope(title: full)),
        ]
        for (name, text) in files { try stage.write(text, as: name) }
        return files.map(\.0)
    }

    private func bytes(of name: String) throws -> [UInt8] {
        do {
            return try FileBytes.read(stage.folder.file(name))
        } catch {
            throw ProfileFailure(description: "the sample wrote no \(name)")
        }
    }

    private func discard(_ name: String) { stage.folder.discard(name) }
}

extension ProfileAnswer {
    var markedTime: MarkedTime { MarkedTime(ranges: marks.filter { $0.begin < $0.end }.map { $0.begin..<$0.end }) }

    var threadNames: [Int32: String] { Dictionary(threads.map { ($0.id, $0.name) }) { $1 } }
}
