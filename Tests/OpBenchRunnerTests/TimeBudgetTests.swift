import Foundation
import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct TimeBudgetTests {
    /// The samples that a budget may add, for cells `a`, `b` and `c` with two backends each.
    private func reserve() throws -> [PlannedSample] {
        var options = RunOptions(kinds: [.throughput])
        options.budget = TimeBudget(seconds: 1) { _ in [:] }
        let specs = try ["a", "b", "c"].map {
            try Fixture.spec("independent", #"{"items": 10}"#, name: $0, backends: ["engine", "dispatch"])
        }
        return try RunPlan(specs: specs, options: options).samples.filter { $0.stage > 0 }
    }

    private func id(_ name: String) -> String { "\(name) items=10" }

    @Test func `every cell is sure of seven blocks, and may get fifty`() throws {
        let reserve = try reserve()
        let blocks = Set(reserve.filter { $0.cell.workload == "a" }.map(\.block))
        #expect(blocks == Set(7..<50))
    }

    @Test func `the cell with the widest interval gets the next block, complete and in order`() throws {
        var spending = BudgetSpending(try reserve()) { _ in 1 }
        let widths = [id("a"): 0.1, id("b"): 0.3, id("c"): 0.2]
        for index in 7..<9 {
            let next = spending.next(widths: widths, remainingSeconds: 100)
            let block = try #require(next)
            #expect(block.map(\.cell.workload) == ["b", "b"])
            #expect(block.allSatisfy { $0.block == index })
            #expect(Set(block.map(\.backend)) == [.engine, .dispatch])
        }
        let equal = spending.next(widths: [id("c"): 0.1, id("a"): 0.1], remainingSeconds: 100)
        #expect(equal?.first?.cell.workload == "a")
    }

    @Test func `a block that would take too long is skipped for others, as long as one fits`() throws {
        var spending = BudgetSpending(try reserve()) { $0.cell.workload == "b" ? 10 : 1 }
        let widths = [id("a"): 0.1, id("b"): 0.3]
        let fitting = spending.next(widths: widths, remainingSeconds: 5)
        let block = try #require(fitting)
        #expect(block.first?.cell.workload == "a")
        spending.note(block, seconds: 6)
        let none = spending.next(widths: widths, remainingSeconds: 5)
        #expect(none == nil)
        let later = spending.next(widths: widths, remainingSeconds: 20)
        #expect(later?.first?.cell.workload == "b")
    }

    @Test func `a precise cell gets no more blocks, and none gets more than fifty`() throws {
        var spending = BudgetSpending(try reserve()) { _ in 0 }
        let none = spending.next(widths: [:], remainingSeconds: 100)
        #expect(none == nil)
        var count = 0
        while spending.next(widths: [id("a"): 1], remainingSeconds: 100) != nil { count += 1 }
        #expect(count == 43)
    }

    @Test func `a run takes the blocks that the widths require, and no more`() async throws {
        let cell = id("w").replacingOccurrences(of: "10", with: "20")
        var options = RunOptions(kinds: [.throughput], directory: try Fixture.folder(), runID: "run")
        options.budget = TimeBudget(seconds: 10_000) { rows in
            Set(rows.filter { $0.cellID == cell && $0.metric == "time" }.map(\.block)).count < 10 ? [cell: 0.5] : [:]
        }
        let spec = try Fixture.spec("independent", #"{"items": [10, 20]}"#, backends: ["engine", "serial"])
        let runner = Runner(
            plan: try RunPlan(specs: [spec], options: options), readCovariates: { Covariates() },
            take: { _, _ in
                var report = SampleReport()
                report.add(.time, "total", 1, phase: "total", operations: 10)
                report.referenceLoopNanoseconds = [1]
                return ChildResult(ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
            })
        var totals: [Int] = []
        _ = try await runner.run { event in
            if case .extended(let total, _) = event { totals.append(total) }
        }
        let rows = try CSVFile.read(SampleRow.self, file: "\(options.directory)/run/samples.csv")
        func blocks(_ cell: String) -> [Int] {
            rows.filter { $0.cellID == cell && $0.backend == .serial && $0.sampleID.hasSuffix("throughput") }
                .filter { $0.metric == "time" }.map(\.block)
        }
        #expect(blocks(id("w")).sorted() == Array(0..<7))
        #expect(blocks(cell).sorted() == Array(0..<10) && blocks(cell).suffix(3) == [7, 8, 9])
        #expect(totals.count == 3 && totals == totals.sorted())
    }
}
