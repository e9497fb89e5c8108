import Foundation
import OpBenchModel
import Synchronization
import Testing

@testable import OpBenchRunner

/// The number of count samples that a run takes.
@Suite struct CountAgreementTests {
    @Test func `the least two counts that differ by no more than the slack agree, wherever they are`() {
        let slack = Metric.allocations.slack(of: 100)!
        #expect(Metric.allocations.leastAgreed([100]) == nil && Metric.allocations.leastAgreed([]) == nil)
        #expect(Metric.allocations.leastAgreed([100, 100 + slack]) == 100)
        #expect(Metric.allocations.leastAgreed([100, 101 + slack]) == nil)
        #expect(Metric.allocations.leastAgreed([100, 300, 200, 300]) == 300)
        #expect(Metric.allocations.leastAgreed([300, 200, 300, 205, 100]) == 200)
    }

    @Test func `instructions agree within a part of the count`() {
        #expect(Metric.instructions.leastAgreed([2000, 1000, 1010]) == 1000)
        #expect(Metric.instructions.leastAgreed([2000, 1000, 1011]) == nil)
        #expect(Metric.time.slack(of: 500) == nil)
    }

    /// Takes a run whose samples count as `values` specifies, by side and block.
    ///
    /// - Returns: the blocks of counts that were taken.
    private func blocks(
        of values: [Double], _ metric: Metric = .allocations, blocks given: Int? = nil, isQuick: Bool = false
    ) async throws -> [Int] {
        let folder = try Fixture.folder()
        let spec = try Fixture.spec(
            "independent", #"{"items": 10}"#, backends: ["engine"],
            more: #", "sample_kinds": ["memory", "instructions"]"#)
        let options = RunOptions(blocks: given, isQuick: isQuick, directory: folder, runID: "run")
        let plan = try RunPlan(specs: [spec], options: options)
        let taken = Mutex(0)
        let outcome = try await PlanRunner(plan: plan, readCovariates: { Covariates() }) { request, _ in
            var report = SampleReport()
            if request.flavour == (metric == .instructions ? .instructions : .allocations) {
                let block = taken.withLock { count in
                    defer { count += 1 }
                    return count
                }
                report.add(metric, "total", values[block], phase: "total", operations: 10)
            }
            return try Self.result(report)
        }.run { _ in }
        let rows = try CSVFile.read(SampleRow.self, file: "\(folder)/run/samples.csv")
        let again = try await PlanRunner(plan: try RunPlan(specs: [spec], options: resumed(options))) { _, _ in
            Issue.record("a finished run takes a sample")
            return try Self.result(SampleReport())
        }.run { _ in }
        #expect(again.samplesTaken == 0 && outcome.samplesTaken == Set(rows.map(\.sampleID)).count)
        return rows.filter { $0.metric == metric.name }.map(\.block).sorted()
    }

    private static func result(_ report: SampleReport) throws -> ChildResult {
        ChildResult(ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
    }

    private func resumed(_ options: RunOptions) -> RunOptions {
        var options = options
        options.resume = true
        return options
    }

    @Test func `two samples suffice if they agree; otherwise more are taken, at most seven`() async throws {
        #expect(try await blocks(of: [50, 50]) == [0, 1])
        #expect(try await blocks(of: [50, 90, 50]) == [0, 1, 2])
        #expect(try await blocks(of: [50, 90, 130, 170, 135]) == [0, 1, 2, 3, 4])
        #expect(try await blocks(of: [50, 90, 130, 170, 210, 250, 290]) == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test func `samples of instructions are taken until two agree, too`() async throws {
        #expect(try await blocks(of: [5000, 5050], .instructions) == [0, 1])
        #expect(try await blocks(of: [5000, 5051, 4990], .instructions) == [0, 1, 2])
    }

    @Test func `a given number of blocks is used unchanged`() async throws {
        #expect(try await blocks(of: [50, 90, 130], blocks: 3) == [0, 1, 2])
        #expect(try await blocks(of: [50], isQuick: true) == [0])
    }
}
