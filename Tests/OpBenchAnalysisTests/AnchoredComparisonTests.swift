import Glibc
import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Drift since a baseline")
struct AnchoredComparisonTests {
    /// Around the tenth step, which leaves a bound of 5 %, and far from it.
    private static let steps = [1, 9, 10, 27]

    /// A run after that many steps, in each of which the engine got 0.5 % slower.
    ///
    /// - Parameter drift: how much the machine may slow down from block to block.
    private func run(_ step: Int, drift: Double = 0.5, side: String = "") -> [SampleRow] {
        var generator = SplitMix64(seed: UInt64(step) + 1)
        var rows = Rows()
        for block in 0..<20 {
            let machine = Double.random(in: 1...(1 + drift), using: &generator)
            let noise = exp(Double.random(in: -0.0005...0.0005, using: &generator))
            rows.addThroughput(.dispatch, block: block, seconds: machine, side: side)
            rows.addThroughput(
                .engine, block: block, seconds: 0.5 * machine * noise * pow(1.005, Double(step)), side: side)
        }
        return rows.rows
    }

    /// A rule for each metric with the other side, and one with the baseline.
    private func policy(_ metrics: [String]) -> GatePolicy {
        GatePolicy(
            rules: metrics.flatMap { metric in
                var selector = GatePolicy.Selector()
                (selector.backend, selector.metric, selector.phase) = ("engine", metric, "total")
                let rule = FigureRule(maxRegression: 0.05)
                return [GatePolicy.Rule(selector, rule), GatePolicy.Rule(selector, rule, against: .baseline("v1"))]
            })
    }

    /// The verdict since the baseline after each step.
    private func verdicts(_ metric: String, drift: Double = 0.5) throws -> [CompareRow] {
        let comparison = AnchoredComparison([(name: "v1", samples: run(0, drift: drift))], .init(policy([metric])))
        return try Self.steps.map { step in
            let rows = try comparison.rows(run(step, drift: drift))
            #expect(rows.count == 1 && rows[0].against == "v1")
            return try #require(rows.first)
        }
    }

    @Test("A step of 0.5 % passes; the bound of 5 % turns red at the tenth")
    func smallSteps() throws {
        let policy = policy(["time_ratio"])
        for step in Self.steps {
            let rows = try Comparison(base: run(step - 1), head: run(step), question: .init(policy)).rows
            #expect(rows.filter { $0.verdict != .unjudged }.map(\.verdict) == [.pass], "step \(step)")
        }
        let found = try verdicts("time_ratio")
        #expect(found.map(\.verdict) == [.pass, .pass, .regression, .regression])
        #expect(abs(try #require(found.last?.ratio) - pow(1.005, 27)) < 0.001)
    }

    @Test("Absolute times of runs apart are never judged, however certain their difference is")
    func absoluteTimes() throws {
        let found = try verdicts("time", drift: 0)
        #expect(found.allSatisfy { $0.verdict == .inconclusive && $0.doubt == .differentTimes })
        #expect(try #require(found.last?.ratioLow) > 1.1)
    }

    @Test("Of two interleaved builds, the head is compared with the baseline")
    func sides() throws {
        let comparison = AnchoredComparison([(name: "v1", samples: run(0))], .init(policy(["time_ratio"])))
        let rows = try comparison.rows(run(0, side: "base") + run(12, side: "head"))
        #expect(rows.map(\.verdict) == [.regression])
        #expect(abs(try #require(rows[0].ratio) - pow(1.005, 12)) < 0.001)
    }

    @Test("Cells and backends that the run did not measure are not missing; figures of the others are")
    func unmeasured() throws {
        let others = run(0).filter { $0.backend == .engine }.flatMap { row in
            var (cell, backend) = (row, row)
            (cell.cellID, cell.parameters["items"]) = ("other", "7")
            backend.backend = .serial
            return [cell, backend]
        }
        var selector = GatePolicy.Selector()
        selector.metric = "time"
        let policy = GatePolicy(rules: [.init(selector, FigureRule(maxRegression: 0.05), against: .baseline("v1"))])
        let comparison = AnchoredComparison([(name: "v1", samples: run(0) + others)], .init(policy))
        let rows = try comparison.rows(run(1))
        #expect(Set(rows.map(\.cellID)) == ["w"] && Set(rows.map(\.backend)) == [.engine, .dispatch])
        let ofOneBackend = AnchoredComparison([(name: "v1", samples: run(0))], .init(self.policy(["time_ratio"])))
        #expect(try ofOneBackend.rows(run(1).filter { $0.backend == .engine }).map(\.verdict) == [.missing])
    }

    @Test("The comparisons of a gate share alpha")
    func alpha() throws {
        func row(alpha: Double, baselines: Int = 0) throws -> CompareRow {
            var policy = policy(["time_ratio"])
            policy.rules[0].figure.alpha = alpha
            policy.rules.removeLast()
            for number in 0..<baselines {
                policy.rules.append(
                    .init(policy.rules[0].selector, policy.rules[0].figure, against: .baseline("v\(number)")))
            }
            let rows = try Comparison(base: run(0), head: run(20), question: .init(policy)).rows
            return try #require(rows.first { $0.metric == "time_ratio" && $0.backend == .engine })
        }
        let alpha = 1.5 * (try #require(row(alpha: 0.05).adjustedProbability))
        #expect(try row(alpha: alpha).verdict == .regression)
        #expect(try row(alpha: alpha, baselines: 1).verdict == .inconclusive)
        #expect(try row(alpha: 2 * alpha, baselines: 1).verdict == .regression)
    }

    @Test("Cells with an undecided figure continue")
    func open() throws {
        let comparison = AnchoredComparison([(name: "v1", samples: run(0))], .init(policy(["time_ratio"])))
        #expect(try comparison.openCells(run(5).filter { $0.block < 3 }) == ["w"])
        for step in [5, 20] { #expect(try comparison.openCells(run(step)).isEmpty, "step \(step)") }
    }

    @Test("Figures since a baseline follow those of their cell and backend")
    func order() {
        func row(_ cell: String, _ backend: BackendID, against: String = "") -> CompareRow {
            var row = CompareRow(FigureName(cellID: cell, backend: backend, metric: "time", stat: "total"))
            row.against = against
            return row
        }
        let rows = [row("a", .engine), row("a", .engine), row("a", .serial), row("b", .engine)]
        let anchored = [
            row("b", .engine, against: "v1"), row("a", .engine, against: "v1"), row("c", .engine, against: "v1"),
        ]
        let all = rows.adding(anchored: anchored)
        #expect(all.map(\.figure.cellID) == ["a", "a", "a", "a", "b", "b", "c"])
        #expect(all.map { !$0.against.isEmpty } == [false, false, true, false, false, true, true])
    }
}
