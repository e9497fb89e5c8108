import OpBenchHistory
import OpBenchModel
import Testing

/// The content of a history.
struct HistoryTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test("added runs are returned in order of time")
    func order() throws {
        try fixture.add("late", day: 9, 3)
        try fixture.add("early", day: 2, 1)
        try fixture.add("middle", day: 5, 2)
        let series = try fixture.series()
        #expect(series.count == 1 && series[0].name == Fixture.name() && series[0].host == Fixture.here)
        #expect(series[0].points.map(\.run.id) == ["early", "middle", "late"])
        #expect(series[0].points.map(\.value) == [1, 2, 3])
        let last = try #require(series[0].points.last)
        #expect(last.low == 3 * 0.9 && last.high == 3 * 1.2 && last.samples == 7 && last.run.commit == "clate")
        // SQLite's log disappears with the last process that had the file open.
        #expect(try fixture.names() == ["history.sqlite"])
    }

    @Test("adding a run again changes nothing, byte for byte")
    func again() throws {
        #expect(try fixture.add("one", 1) == .added)
        let before = try fixture.series()
        #expect(try fixture.add("one", 1) == .known)
        #expect(try fixture.series() == before)
        #expect(before[0].points.count == 1)
    }

    @Test("a changed run is refused, and replaced as a whole on request")
    func changed() throws {
        let other = Fixture.name(.allocations)
        try fixture.add("one", 1, [Fixture.name(), other])
        #expect(try fixture.add("one", 2) == .refused)
        #expect(try fixture.series().map { $0.points.map(\.value) } == [[1], [1]])
        #expect(try fixture.add("one", 2, isReplacing: true) == .replaced)
        let series = try fixture.series()
        #expect(series.map(\.name) == [Fixture.name()] && series[0].points.map(\.value) == [2])
        #expect(try fixture.add("one", 2, isReplacing: true) == .known)
    }

    @Test("the digest covers everything that is kept of a run")
    func digests() {
        let figures = Fixture.figures(1)
        let run = Fixture.run("one", figures)
        var noInterval = figures
        noInterval[0].low = nil
        var fewer = figures
        fewer[0].samples = 6
        var side = figures
        side[0].name.side = "head"
        let others = [
            Fixture.run("two", figures), Fixture.run("one", day: 2, figures),
            Fixture.run("one", host: Fixture.elsewhere, figures), Fixture.run("one", Fixture.figures(2)),
            Fixture.run("one", surroundings: ["": Surroundings([.kernel: "Linux"])], figures),
            Fixture.run("one", noInterval), Fixture.run("one", fewer), Fixture.run("one", side),
            Fixture.run("one", figures + Fixture.figures(1, [Fixture.name(.allocations)])),
            HistoryRun(
                id: "one", startedUTC: run.startedUTC, commit: nil, isDirty: false, host: run.host, figures: figures),
            HistoryRun(
                id: "one", startedUTC: run.startedUTC, commit: run.commit, isDirty: true, host: run.host,
                figures: figures),
        ]
        #expect(Set(([run] + others).map(\.digest)).count == others.count + 1)
        #expect(Fixture.run("one", figures.reversed()).digest == run.digest)
    }

    @Test("runs of different hosts, allocators and builds are never in one series")
    func hosts() throws {
        var debug = Fixture.here
        debug.configuration = "debug"
        var system = Fixture.here
        system.allocator = "system"
        for (day, host) in [Fixture.elsewhere, debug, Fixture.here, system, Fixture.here].enumerated() {
            try fixture.add("run\(day)", day: day + 1, host: host, Double(day))
        }
        let series = try fixture.series()
        #expect(series.map(\.host) == [Fixture.elsewhere, debug, system, Fixture.here])
        #expect(series.map { $0.points.map(\.run.id) } == [["run0"], ["run1"], ["run3"], ["run2", "run4"]])
        #expect(series.allSatisfy { series in series.points.allSatisfy { $0.run.host == series.host } })
    }

    @Test("a query returns the selected figures")
    func queries() throws {
        let names = [
            Fixture.name(), Fixture.name(phase: "submit"), Fixture.name(backend: .dispatch),
            Fixture.name(cell: "w items=20"), Fixture.name(.allocations), Fixture.name(side: "head"),
        ]
        try fixture.add("one", 1, names)
        func found(_ change: (inout History.Query) -> Void) throws -> Set<FigureName> {
            var query = History.Query()
            change(&query)
            return try Set(fixture.series(query).map(\.name))
        }
        #expect(try found { _ in } == Set(names))
        #expect(try found { $0.metrics = ["allocations"] } == [names[4]])
        #expect(try found { $0.backends = [.dispatch] } == [names[2]])
        #expect(try found { $0.isWantedCell = { $0.hasSuffix("=20") } } == [names[3]])
        #expect(try found { $0.isHeadlineOnly = true } == Set(names).subtracting([names[1]]))
        #expect(try found { $0.metrics = [] } == [])
        let history = try History(fixture.path, for: .reading)
        let known = try history.names()
        #expect(known.metrics == ["allocations", "time"] && known.backends == [.dispatch, .engine])
        let entries = try history.entries()
        #expect(entries.map(\.run.id) == ["one"] && entries[0].cells == 2 && entries[0].figures == 6)
        try history.close()
    }

    /// A new compiler from the third day on, and a kernel that two runs do not know.
    private func addRuns() throws {
        let facts: [[SurroundingFact: String?]] = [
            [.compiler: "Swift A", .kernel: "Linux 1"], [.compiler: "Swift A"], [.compiler: "Swift B"],
            [.compiler: "Swift B", .kernel: "Linux 2"], [:], [.compiler: "Swift B", .kernel: "Linux 2"],
        ]
        for (day, facts) in facts.enumerated() {
            try fixture.add("run\(day)", day: day + 1, surroundings: ["": Surroundings(facts)], 1)
        }
    }

    @Test("a run at which something around the code changed is marked; unknown facts are no change")
    func surroundings() throws {
        try addRuns()
        let lines = try fixture.series()[0].points.map(\.surroundingChanges.lines)
        #expect(
            lines == [[], [], ["compiler: Swift A → Swift B"], ["kernel: Linux 1 → Linux 2"], [], []])
    }

    @Test("a change where something around the code changed is not one of the code, and its row says so")
    func causes() throws {
        try addRuns()
        var series = try fixture.series()[0]
        series.points[2].change = 1.3
        series.points[4].change = 0.9
        #expect(series.points.map(\.isChangeOfCode) == [false, false, false, false, true, false])
        let rows = series.rows
        #expect(rows.map(\.change) == [nil, nil, nil, nil, 0.9, nil])
        #expect(rows.map(\.surroundingsChange) == [nil, nil, 1.3, nil, nil, nil])
        #expect(rows.map { !$0.surroundings.isEmpty } == [false, false, true, true, false, false])
    }

    @Test("each side of two builds has its own compiler")
    func sidesOfBuilds() throws {
        for (day, head) in ["Swift A", "Swift B"].enumerated() {
            let sides = ["base": Surroundings([.compiler: "Swift A"]), "head": Surroundings([.compiler: head])]
            try fixture.add(
                "run\(day)", day: day + 1, surroundings: sides, 1, ["base", "head"].map { Fixture.name(side: $0) })
        }
        let marked = try fixture.series().map { series in
            (series.name.side, series.points[1].surroundingChanges.lines)
        }
        #expect(marked.map(\.0) == ["base", "head"])
        #expect(marked.map(\.1) == [[], ["compiler: Swift A → Swift B"]])
    }

    @Test("rows of a series read back as written")
    func rows() throws {
        try fixture.add("one", 1)
        try fixture.add("two", day: 2, 1.5)
        var series = try fixture.series()
        series[0].points[1].change = 1.5
        let rows = series.flatMap(\.rows)
        try CSVFile.text(of: rows).write(toFile: fixture.folder + "/trend.csv", atomically: false, encoding: .utf8)
        #expect(try CSVFile.read(TrendRow.self, file: fixture.folder + "/trend.csv") == rows)
        #expect(rows.map(\.change) == [nil, 1.5] && rows[0].commit == "cone")
    }
}
