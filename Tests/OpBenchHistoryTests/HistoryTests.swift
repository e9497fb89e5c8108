import Foundation
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
        #expect(series[0].points.map(\.figure.value) == [1, 2, 3])
        let last = try #require(series[0].points.last)
        #expect(
            last.figure.low == 3 * 0.9 && last.figure.high == 3 * 1.2 && last.figure.samples == 7
                && last.run.commit == "clate")
        #expect(try fixture.names() == ["history.csv"])
    }

    @Test("adding a run again changes nothing, byte for byte")
    func again() throws {
        #expect(try fixture.add("one", 1) == .added)
        let before = try fixture.bytes()
        #expect(try fixture.add("one", 1) == .known)
        #expect(try fixture.bytes() == before)
        #expect(try fixture.series()[0].points.count == 1)
    }

    @Test("a changed run is refused, and replaced as a whole on request")
    func changed() throws {
        let other = Fixture.name(.allocations)
        try fixture.add("one", 1, [Fixture.name(), other])
        #expect(throws: InputErrors.self) { try fixture.add("one", 2) }
        #expect(try fixture.series().map { $0.points.map(\.figure.value) } == [[1], [1]])
        #expect(try fixture.add("one", 2, isReplacing: true) == .replaced)
        let series = try fixture.series()
        #expect(series.map(\.name) == [Fixture.name()] && series[0].points.map(\.figure.value) == [2])
        #expect(try fixture.add("one", 2, isReplacing: true) == .known)
    }

    @Test("a run that differs in anything kept is another one; the order of its figures does not matter")
    func differences() throws {
        let figures = Fixture.figures(1, [Fixture.name(), Fixture.name(.allocations)])
        let run = Fixture.run("one")
        var others = (0..<4).map { _ in figures }
        others[0][0].low = nil
        others[1][0].samples = 6
        others[2][0].name.side = "head"
        others[3].removeLast()
        var runs = (0..<4).map { _ in run }
        runs[0].startedUTC = "2026-01-02T00:00:00.000Z"
        runs[1].commit = ""
        runs[2].isDirty = true
        runs[3].surroundings = ["": Surroundings([.kernel: "Linux"])]
        let entries =
            others.map { History.Entry(run: run, figures: $0) }
            + (runs + [Fixture.run("one", host: Fixture.elsewhere)]).map { History.Entry(run: $0, figures: figures) }
        try History.add([.init(run: run, figures: figures)], to: fixture.path)
        for entry in entries {
            #expect(throws: InputErrors.self) { try History.add([entry], to: fixture.path) }
        }
        #expect(try History.add([.init(run: run, figures: figures.reversed())], to: fixture.path) == [.known])
    }

    @Test("if one run of several is refused, none is added")
    func allOrNone() throws {
        try fixture.add("one", 1)
        let before = try fixture.bytes()
        let entries = ["two", "one"].map { History.Entry(run: Fixture.run($0), figures: Fixture.figures(2)) }
        #expect(throws: InputErrors.self) { try History.add(entries, to: fixture.path) }
        #expect(try fixture.bytes() == before)
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
        let names = [Fixture.name(), Fixture.name(backend: .dispatch), Fixture.name(.allocations)]
        try fixture.add("one", 1, names)
        let history = try History(fixture.path)
        #expect(Set(history.series().map(\.name)) == Set(names))
        #expect(history.series { $0.backend == .dispatch }.map(\.name) == [names[1]])
        #expect(history.names.metrics == ["allocations", "time"] && history.names.backends == [.dispatch, .engine])
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
        #expect(series.points.map { !$0.surroundingChanges.isEmpty } == [false, false, true, true, false, false])
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
}

/// The history's file.
struct HistoryFileTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: fixture.path)) }

    /// Expects that the file is refused, for reading and for adding, and stays as it is.
    private func expectRefusal(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = (try? fixture.bytes(), try fixture.names())
        for read in [{ _ = try History(fixture.path) }, { try fixture.add("more", 1) }] as [() throws -> Void] {
            let error = #expect(throws: InputError.self, sourceLocation: sourceLocation) { try read() }
            #expect(error?.file == fixture.path, sourceLocation: sourceLocation)
        }
        #expect((try? fixture.bytes()) == before.0, sourceLocation: sourceLocation)
        #expect(try fixture.names() == before.1, sourceLocation: sourceLocation)
    }

    @Test("a file that is no history, another version, or damaged is refused and stays as it is")
    func bad() throws {
        try fixture.add("one", 1, [Fixture.name(), Fixture.name(.allocations)])
        let good = String(decoding: try fixture.bytes(), as: UTF8.self)
        let lines = good.split(separator: "\n").map { String($0) + "\n" }
        for text: String in [
            "", "no history\n", String(good.dropLast(5)), good.replacing("\n1,", with: "\n77,"),
            good.replacing(",0.9,", with: ",x,"), lines[0] + lines[1] + lines[1].replacing(",7,", with: ",8,"),
            good.replacing(",1,0.9,", with: ",,0.9,"), lines[0] + lines[1] + lines[2].replacing("cone", with: "other"),
        ] {
            try write(text)
            try expectRefusal()
        }
        try FileManager.default.removeItem(atPath: fixture.path)
        try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: false)
        try expectRefusal()
    }

    @Test("no file: there is no history to read, and reading makes none")
    func nothing() throws {
        let error = #expect(throws: InputError.self) { _ = try History(fixture.path) }
        #expect(error?.file == fixture.path && error?.remedy.contains("opbench history add") == true)
        #expect(try fixture.names() == [])
    }

    @Test("lines of two histories, merged by union in any order and twice, are the history of both")
    func union() throws {
        let names = [Fixture.name(), Fixture.name(side: "head")]
        let facts = ["": Surroundings([.kernel: "A"]), "head": Surroundings([.kernel: "B"])]
        try fixture.add("one", day: 2, surroundings: facts, 1, names)
        try fixture.add("two", 2)
        let whole = try History(fixture.path).entries
        #expect(whole.map(\.run.id) == ["two", "one"] && whole[1].run.surroundings == facts)
        let lines = String(decoding: try fixture.bytes(), as: UTF8.self).split(separator: "\n")
        try write(([lines[0]] + (lines.dropFirst() + lines.dropFirst()).reversed()).map { $0 + "\n" }.joined())
        #expect(try History(fixture.path).entries == whole)
    }

    @Test("facts that no file keeps make no other run")
    func factsWithoutFigures() throws {
        let run = Fixture.run("one", surroundings: ["": Surroundings(), "base": Surroundings([.kernel: "A"])])
        let entry = History.Entry(run: run, figures: Fixture.figures(1))
        #expect(try History.add([entry], to: fixture.path) == [.added])
        #expect(try History.add([entry], to: fixture.path) == [.known])
    }

    @Test("a link to no file is followed, and the history is made there")
    func danglingLink() throws {
        let other = try Fixture()
        try FileManager.default.createSymbolicLink(atPath: other.path, withDestinationPath: fixture.path)
        for (day, id) in ["one", "two"].enumerated() { try other.add(id, day: day + 1, 1) }
        #expect(try fixture.series()[0].points.map(\.run.id) == ["one", "two"])
    }

    @Test("a history behind a symbolic link is replaced where it is")
    func link() throws {
        try fixture.add("one", 1)
        let other = try Fixture()
        try FileManager.default.createSymbolicLink(atPath: other.path, withDestinationPath: fixture.path)
        try other.add("two", 2)
        #expect(try fixture.series()[0].points.count == 2 && other.names() == ["history.csv"])
    }
}
