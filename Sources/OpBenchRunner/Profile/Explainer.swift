import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel
import OpBenchProfile

/// The programs of both sides, which may be the same, and their run's work kernel.
public struct ExplainedBuilds: Sendable {
    let compared: ComparedBuilds
    let kernel: WorkKernel

    /// The builds of a run of `opbench ab`, of two runs, or of one run, given twice.
    ///
    /// - Throws: `InputError` if a run does not record its program, or the program is missing or has changed.
    public init(base: RunFacts, head: RunFacts, names: (base: String, head: String)) async throws(InputError) {
        if let builds = base.builds {
            compared = builds
        } else {
            compared = ComparedBuilds(
                base: try Self.executable(of: base, names.base), head: try Self.executable(of: head, names.head),
                injected: InjectedDefect())
        }
        kernel = base.calibration
        try await compared.base.checkUnchanged()
        try await compared.head.checkUnchanged()
    }

    private static func executable(of facts: RunFacts, _ name: String) throws(InputError) -> BuildFacts {
        if let executable = facts.executable { return executable }
        throw InputError(
            file: name, message: "the run does not record the program that took its samples",
            remedy: "measure again with this opbench, or compare two builds with `opbench ab`")
    }
}

/// A cell in which a difference is to be explained.
public struct ExplainedTarget: Sendable, Hashable {
    public let cell: Cell
    public let backends: ExplainedBackends

    public init(cell: Cell, backends: ExplainedBackends) { (self.cell, self.backends) = (cell, backends) }

    public var title: String { backends.title(of: cell.id) }
}

/// The explanation of the difference between two sides in a cell.
public struct ExplainedCell: Sendable {
    public let target: ExplainedTarget
    public let explanation: Explanation
    /// Folded stacks of CPU time and of allocations on each side, from its middle turn.
    public let stacks: [(name: String, text: String)]
    /// Reasons for missing records.
    public let notes: [String]
}

/// Progress events, in order.
public enum ExplainEvent: Sendable {
    case sampleStarted(target: ExplainedTarget, side: Side, what: String, index: Int, total: Int)
    case finished(ExplainedCell)
    case failed(ExplainedTarget, reason: String)
}

/// Profiles two sides, interleaved, and explains what grew. A side is a build and a backend.
public struct Explainer: Sendable {
    private let builds: ExplainedBuilds
    private let targets: [ExplainedTarget]
    private let options: ProfileOptions
    /// The number of turns of each side.
    private let turns: Int
    private let test: ChanceTest

    /// The parts that are recorded of a side in a turn.
    fileprivate enum Take: String, CaseIterable {
        case unprofiled, cpu, heap, trace, calls
    }

    /// - Parameter test: distinguishes differences from chance.
    public init(
        _ builds: ExplainedBuilds, _ targets: [ExplainedTarget], _ options: ProfileOptions, turns: Int,
        by test: ChanceTest
    ) {
        self.test = test
        self.builds = builds
        self.targets = targets
        self.options = options
        self.turns = turns
    }

    /// Explains the cells in order. If the task is cancelled, the cell in progress is dropped.
    ///
    /// - Parameter onEvent: called on the caller's task, one event at a time.
    /// - Throws: `DiskError` if raw files cannot be written, `CancellationError`, and errors of `onEvent`.
    public func run(onEvent: (ExplainEvent) throws -> Void) async throws {
        let scratch = try PassingFolder()
        defer { withExtendedLifetime(scratch) {} }
        let folder = try ProfileFolder(scratch.path)
        let means = ProfileMeans.probe()
        for (place, target) in targets.enumerated() {
            do {
                let cell = try await explain(target, means, folder) { side, take, index in
                    let count = 2 * turns * Take.allCases.count
                    try onEvent(
                        .sampleStarted(
                            target: target, side: side, what: take.rawValue, index: place * count + index,
                            total: targets.count * count))
                }
                try onEvent(.finished(cell))
            } catch let failure as ProfileFailure {
                try onEvent(.failed(target, reason: failure.description))
            }
        }
    }

    private func explain(
        _ target: ExplainedTarget, _ means: ProfileMeans, _ folder: ProfileFolder,
        tell: (Side, Take, Int) throws -> Void
    ) async throws -> ExplainedCell {
        var samples: [Side: [ExplainedSample]] = [.base: [], .head: []]
        var notes: Set<String> = []
        if means[.heap].means == nil { notes.insert("heap: \(means[.heap].words)") }
        var generator = SplitMix64(seed: 1)
        var index = 0
        for _ in 0..<turns {
            for side in generator.shuffled(Side.allCases) {
                let stage = try folder.stage()
                var child = ChildProcess()
                child.executable = builds.compared.build(of: side).path
                let taker = ProfileTaker(
                    target: ProfileTarget(cell: target.cell, backend: target.backends[side]), kernel: builds.kernel,
                    options: options, means: means, child: child, stage: stage, side: (builds.compared.injected, side))
                func tellNext(_ take: Take) throws {
                    try tell(side, take, index)
                    index += 1
                }
                samples[side, default: []].append(try await taker.explainedSample(notes: &notes, tell: tellNext))
            }
        }
        let (base, head) = (samples[.base] ?? [], samples[.head] ?? [])
        return ExplainedCell(
            target: target, explanation: Explanation(base: base, head: head, on: target.backends, by: test),
            stacks: Self.stacks(samples), notes: notes.sorted())
    }

    private static func stacks(_ samples: [Side: [ExplainedSample]]) -> [(name: String, text: String)] {
        let parts: [(String, KeyPath<ExplainedSample, ExplainedSample.Part?>)] = [
            ("cpu", \.cpu), ("allocations", \.allocations),
        ]
        return parts.flatMap { kind, path in
            Side.allCases.compactMap { side in
                guard let turns = samples[side], let part = turns[turns.count / 2][keyPath: path] else { return nil }
                return ("\(kind)-\(side.rawValue).folded", part.profile.folded())
            }
        }
    }
}

extension ProfileTaker {
    /// Records all parts of a side in a turn.
    ///
    /// - Parameters:
    ///   - notes: receives reasons for missing records.
    ///   - tell: called before each part.
    fileprivate func explainedSample(
        notes: inout Set<String>, tell: (Explainer.Take) throws -> Void
    ) async throws -> ExplainedSample {
        try tell(.unprofiled)
        let plain = try await take(.none)
        guard plain.report.status == .ok else { throw ProfileFailure(description: plain.report.notes) }
        let figures = PlainFigures(plain)
        var sample = ExplainedSample(time: figures.timePerOperation, cpuTime: figures.cpuPerOperation)
        let operations = Double(max(1, plain.operations))
        sample.counts[.voluntarySwitches] = Double(plain.voluntarySwitches) / operations
        sample.counts[.involuntarySwitches] = Double(plain.involuntarySwitches) / operations
        try tell(.cpu)
        sample.cpu = try await part("cpu", &notes) {
            guard let means = means[.cpu].means else { return nil }
            let (profile, answer, remarks) = try await cpuProfile(means)
            return (.init(profile, operations: answer.operations), remarks)
        }
        try tell(.heap)
        sample.allocations = try await part("heap", &notes) {
            guard means[.heap].means != nil else { return nil }
            let (parts, answer, remarks) = try await heapProfiles()
            return parts.first { $0.profile.unit == .allocations }.map {
                (.init($0.profile, operations: answer.operations), remarks)
            }
        }
        try tell(.trace)
        if let report = try await part("trace", &notes, { (try await tracedReport().1, []) }) {
            sample.waits = (report.waits.total, report.trace.operations.count)
            sample.tails = report.tails.groups
        }
        try tell(.calls)
        sample.counts[.futexCalls] = try await part("futex calls", &notes) { (try await futexCalls(), []) }
        return sample
    }

    /// The recorded part; nil if it failed, with a note on the reason.
    private func part<Value>(
        _ name: String, _ notes: inout Set<String>, _ take: () async throws -> (Value, remarks: [String])?
    ) async throws -> Value? {
        do {
            let taken = try await take()
            for remark in taken?.remarks ?? [] { notes.insert("\(name): \(remark)") }
            return taken?.0
        } catch {
            // A full disk or a cancellation ends everything.
            if error is DiskError || error is CancellationError { throw error }
            notes.insert("\(name): \(error)")
            return nil
        }
    }

    /// Futex calls per operation.
    ///
    /// - Throws: `ProfileFailure` if they cannot be counted.
    private func futexCalls() async throws -> Double {
        let report = try await run(.calls).report
        guard let figure = report.figures.first(where: { $0.metric == Metric.futexCalls.name }) else {
            throw ProfileFailure(description: "\(report.status.rawValue): \(report.notes)")
        }
        return figure.value / Double(max(1, figure.operations))
    }
}
