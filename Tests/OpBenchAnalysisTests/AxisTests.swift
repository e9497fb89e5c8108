import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite struct AxisTests {
    private static let notify = BackendID(rawValue: "dispatch:notify")

    /// A cell of chains: 0.1 s on the engine, 0.2 s on Dispatch, 0.4 s on Dispatch's form with groups.
    private func rows(hasNotify: Bool = true, isNotifyTimed: Bool = true) -> Rows {
        var rows = Rows()
        rows.addThroughput(.engine, block: 0, seconds: 0.1, flags: [.declared])
        rows.addThroughput(.dispatch, block: 0, seconds: 0.2, flags: [.byHand])
        rows.addThroughput(.serial, block: 0, seconds: 0.05)
        guard hasNotify else { return rows }
        if isNotifyTimed {
            rows.addThroughput(Self.notify, block: 0, seconds: 0.4, flags: [.declared, .noisy])
        } else {
            rows.add(Self.notify, kind: "check", block: 0, flags: [.declared])
        }
        return rows
    }

    private func summary(_ rows: Rows, _ backend: BackendID, ratioTo baseline: BackendID = .dispatch) throws
        -> SummaryRow
    {
        try #require(summarize(rows.rows, ratioTo: baseline).first { $0.backend == backend })
    }

    @Test func `a ratio refers to the baseline's form on the same axis`() throws {
        let engine = try summary(rows(), .engine)
        #expect(engine.ratioTo == Self.notify && engine[.timeRatio].value == 0.25 && !engine.isRatioUnlike)
        let notify = try summary(rows(), Self.notify)
        #expect(notify.ratioTo == Self.notify && notify[.timeRatio].value == 1)
        let serial = try summary(rows(), .serial)
        #expect(serial.ratioTo == .dispatch && !serial.isRatioUnlike)
        #expect(try summary(rows(), .dispatch, ratioTo: .engine).isRatioUnlike)
    }

    @Test(arguments: [true, false]) func `without such a form a ratio is across the axes`(hasNotify: Bool) throws {
        let engine = try summary(rows(hasNotify: hasNotify, isNotifyTimed: false), .engine)
        #expect(engine.ratioTo == .dispatch && engine[.timeRatio].value == 0.5 && engine.isRatioUnlike)
    }

    @Test func `ratios to different forms are different figures`() throws {
        func key(_ rows: Rows) throws -> CellFigures.Key {
            try #require(
                CellFigures(rows: rows.rows).series.keys.first { $0.metric == "time_ratio" && $0.backend == .engine })
        }
        #expect(try key(rows()) != key(rows(hasNotify: false)))
        #expect(try key(rows()).ratioTo == "dispatch:notify" && key(rows(hasNotify: false)).ratioTo == "dispatch")
    }
}
