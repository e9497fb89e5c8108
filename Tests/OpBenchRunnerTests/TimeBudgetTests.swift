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

    /// A run of two cells, whose widths depend on the number of throughput blocks that they have.
    private func run(
        _ options: RunOptions, seconds: Double = 10_000, precision: Double? = nil,
        widths: @escaping @Sendable (_ cellID: String, _ blocks: Int) -> Double?
    ) async throws -> (rows: [SampleRow], facts: RunFacts, events: [RunEvent]) {
        var options = options
        options.budget = TimeBudget(seconds: seconds, precision: precision) { rows in
            Dictionary(grouping: rows.filter { $0.metric == "time" }, by: \.cellID).compactMapValues {
                widths($0[0].cellID, Set($0.map(\.block)).count)
            }
        }
        let spec = try Fixture.spec("independent", #"{"items": [10, 20]}"#, backends: ["engine", "serial"])
        let runner = PlanRunner(
            plan: try RunPlan(specs: [spec], options: options), readCovariates: { Covariates() },
            take: { _, _ in
                var report = SampleReport()
                report.add(.time, "total", 1, phase: "total", operations: 10)
                report.referenceLoopNanoseconds = [1]
                return ChildResult(ending: .exited(0), output: Array(try JSONEncoder().encode(report)), diagnostics: "")
            })
        var events: [RunEvent] = []
        _ = try await runner.run { events.append($0) }
        let folder = "\(options.directory)/run"
        return (
            try CSVFile.read(SampleRow.self, file: "\(folder)/samples.csv"),
            try #require(try RunFacts.read(in: folder)), events
        )
    }

    private func options() throws -> RunOptions {
        RunOptions(kinds: [.throughput], directory: try Fixture.folder(), runID: "run")
    }

    private func blocks(_ cell: String, _ rows: [SampleRow]) -> [Int] {
        rows.filter { $0.cellID == cell && $0.backend == .serial && $0.sampleID.hasSuffix("throughput") }
            .filter { $0.metric == "time" }.map(\.block)
    }

    @Test func `a run takes the blocks that the widths require, and no more`() async throws {
        let cell = id("w").replacingOccurrences(of: "10", with: "20")
        let ended = try await run(options()) { $0 == cell && $1 < 10 ? 0.5 : 0 }
        #expect(blocks(id("w"), ended.rows).sorted() == Array(0..<7))
        let taken = blocks(cell, ended.rows)
        #expect(taken.sorted() == Array(0..<10) && taken.suffix(3) == [7, 8, 9])
        #expect(ended.events.count { if case .extended = $0 { true } else { false } } == 3)
        #expect(ended.facts.precision == nil && ended.facts.impreciseCells == nil)
    }

    @Test func `a run for a precision ends when all cells have it, and else says which have not`() async throws {
        let other = id("w").replacingOccurrences(of: "10", with: "20")
        // Narrow after 9 blocks, and after 12.
        let reached = try await run(options(), precision: 0.02) { $1 < ($0 == other ? 12 : 9) ? 1 / Double($1) : 0.019 }
        #expect(blocks(id("w"), reached.rows).count == 9 && blocks(other, reached.rows).count == 12)
        #expect(reached.facts.precision == 0.02 && reached.facts.impreciseCells == [])
        // No backend has Dispatch beside it.
        #expect(reached.facts.timedCells == (2, 2))
        let distances = reached.events.compactMap { if case .imprecise(_, let distance) = $0 { distance } else { nil } }
        #expect(distances.count == 7 && distances == distances.sorted(by: >))

        // One cell never gets there within fifty blocks; the other has no interval.
        let missed = try await run(options(), precision: 0.02) { cell, _ in cell == other ? 0.5 : nil }
        #expect(blocks(other, missed.rows).count == TimeBudget.mostBlocks)
        #expect(missed.facts.impreciseCells == [id("w"), other].sorted())

        // No time for more than the first blocks.
        let late = try await run(options(), seconds: 1e-9, precision: 0.02) { _, _ in 0.5 }
        #expect(blocks(other, late.rows).count == 7 && late.facts.impreciseCells?.count == 2)
        // That is foreseeable, and reported before the first sample is taken.
        let warning = late.events.firstIndex { if case .budgetIsShort = $0 { true } else { false } }
        let first = late.events.firstIndex { if case .sampleStarted = $0 { true } else { false } }
        #expect(try #require(warning) < #require(first))
    }

    @Test func `a resumed run needs the same precision`() async throws {
        let options = try options()
        _ = try await run(options, precision: 0.02) { _, _ in 0.01 }
        var again = options
        again.resume = true
        for precision in [nil, 0.03] as [Double?] {
            await #expect(throws: InputError.self) {
                _ = try await run(again, precision: precision) { _, _ in 0.01 }
            }
        }
        #expect(try await run(again, precision: 0.02) { _, _ in 0.01 }.facts.impreciseCells == [])
    }
}
