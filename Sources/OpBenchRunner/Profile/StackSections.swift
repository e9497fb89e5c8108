import Foundation
import OpBenchModel
import OpBenchProfile

extension ProfileTaker {
    // MARK: CPU time

    func cpu(_ means: ProfileMeans.Means, _ plain: PlainFigures) async throws -> ProfileSection {
        let (profile, answer, notes) = try await cpuProfile(means)
        let file = try views.write(profile, as: "cpu")
        let report = StackReport(profile, on: target.backend, operations: answer.operations)
        return ProfileSection(
            .cpu, means: means.rawValue, lines: report.lines() + Self.check(report.table, answer) + notes,
            files: [file], perturbation: plain.perturbation(of: answer))
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
            "the process used \(Quantities.time(counted / operations)) of CPU time per operation between the marks; "
            + "samples cover \(Quantities.percent(Double(table.total), of: counted)) of it"
        let missing = counted - Double(table.total)
        if Double(table.total) < leastSampled * counted {
            if missing > mostHidden * switches {
                line += "; the rest was not sampled"
            } else {
                line +=
                    "; the rest is \(Quantities.time(missing / switches)) for each of "
                    + "\(Quantities.count(switches / operations)) switches per operation, which no sampler sees fully"
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
        let read = try await answer.reader.cpu(stage.folder.file(PerfEvents.cpu.fileName))
        return (read.profile, answer, read.notes)
    }

    private func signalProfile() async throws -> (StackProfile, ProfileAnswer, [String]) {
        defer { discard(RawStacksFile.name) }
        let answer = try await take(.signals)
        let raw = try RawStacksFile.read(try bytes(of: RawStacksFile.name)).during(answer.markedTime)
        let symbols = try await Symbolizer().names(of: raw.lookUps, in: raw.map)
        var notes = symbols.notes
        if raw.lostSamples > 0 {
            notes.append(
                "\(counted(raw.lostSamples, "sample was", plural: "samples were")) lost, so the figures are too low")
        }
        if raw.unsampledThreads > 0 {
            notes.append("not included: \(counted(raw.unsampledThreads, "thread")) without a timer; see ulimit -i")
        }
        return (raw.profile(symbols.symbols, threadNames: answer.threadNames), answer, notes)
    }

    // MARK: Waiting

    func offCPU(_ means: ProfileMeans.Means, _ plain: PlainFigures) async throws -> ProfileSection {
        if means == .schedule {
            defer { discard(ScheduleRecorder.fileName) }
            let answer = try await take(.schedule)
            let schedules = try ScheduleRecorder.schedules(try bytes(of: ScheduleRecorder.fileName))
                .named(answer.threadNames)
            return ProfileSection(
                .offcpu, means: means.rawValue, lines: schedules.lines(operations: answer.operations),
                perturbation: plain.perturbation(of: answer))
        }
        let file = PerfEvents.wakeUps.fileName
        defer { discard(file) }
        let answer = try await take(means == .perf ? .perfWakeUps : .perfSwitches)
        let profile = try await answer.reader.offCPU(stage.folder.file(file))
        let (lines, files) = try views.write(profile, operations: answer.operations)
        return ProfileSection(
            .offcpu, means: means.rawValue, lines: lines, files: files,
            perturbation: plain.perturbation(of: answer))
    }

    // MARK: Memory

    func heap(_ plain: PlainFigures) async throws -> ProfileSection {
        let (profiles, answer, notes) = try await heapProfiles()
        let (lines, files) = try views.write(profiles)
        return ProfileSection(
            .heap, means: "jemalloc's profiler, every allocation", lines: lines + notes, files: files,
            perturbation: plain.perturbation(of: answer))
    }

    /// Memory in use at the fence of the first round, and all allocations between the marks.
    func heapProfiles() async throws -> (parts: [HeapPart], answer: ProfileAnswer, notes: [String]) {
        defer { for name in [HeapSampler.liveFile, HeapSampler.allFile, HeapSampler.countsFile] { discard(name) } }
        let answer = try await take(.heap, environment: HeapSampler.environment())
        let live = try HeapProfile(try bytes(of: HeapSampler.liveFile))
        let all = try HeapProfile(try bytes(of: HeapSampler.allFile))
        let symbols = try await Symbolizer().names(of: live.lookUps + all.lookUps, in: all.map)
        let parts = HeapPart.all(
            all, live, symbols.symbols, allOperations: answer.operations, liveOperations: answer.roundOperations)
        return (parts, answer, symbols.notes)
    }

    // MARK: Files

    var views: ProfileViews { ProfileViews(stage, on: target.backend) }

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
    fileprivate var reader: PerfReader { PerfReader(process: process, marks: markedTime, threads: threadNames) }

    var markedTime: MarkedTime { MarkedTime(marks.filter { $0.begin < $0.end }.map { $0.begin..<$0.end }) }

    var threadNames: [Int32: String] { Dictionary(threads.map { ($0.id, $0.name) }) { $1 } }
}
