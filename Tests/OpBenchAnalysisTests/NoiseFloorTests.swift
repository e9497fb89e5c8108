import Glibc
import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Noise floors")
struct NoiseFloorTests {
    /// One build against itself: its time in every block, with independent noise on each side.
    private func run(
        _ id: String, blocks: Int = 30, noise: Double, shift: Double = 0, seed: UInt64
    ) -> [SampleRow] {
        var generator = SplitMix64(seed: seed)
        var rows = Rows()
        for block in 0..<blocks {
            let drift = Double.random(in: 1...1.2, using: &generator)
            for side in ["base", "head"] {
                let own = exp(Double.random(in: -noise...noise, using: &generator) + shift)
                rows.addThroughput(block: block, seconds: drift * own, run: id, side: side)
            }
            rows.add(
                kind: "allocations", block: block, run: id, side: "base",
                figures: [(.allocations, "total", "total", "", 2000, 1000)])
        }
        return rows.rows
    }

    private func time(_ rows: [NoiseFloorRow]) -> NoiseFloorRow? {
        rows.first { $0.metric == "time" && $0.phase == "total" }
    }

    /// Differences of two uniform values of ±a have the deviation a · √(2 ÷ 3); the mean of 15 of them has 0.21 a, and
    /// 2.58 times that is exceeded once in a hundred times: 0.54 a.
    @Test("Interleaved: the difference that 15 equal blocks exceed once in a hundred times", arguments: [0.01, 0.04])
    func paired(noise: Double) throws {
        let floor = try #require(
            time(NoiseFloors.paired([run("a", noise: noise, seed: 1), run("b", noise: noise, seed: 2)])))
        #expect((0.4 * noise...0.75 * noise).contains(try #require(floor.noiseFloor)))
        #expect(floor.runs == 2 && floor.blocks == 60 && floor.cellID == "w" && floor.backend == .engine)
    }

    @Test("A constant advantage of one side is noise too, since the sides are equal")
    func symmetric() {
        #expect(abs(NoiseFloors.pairedFloor(Array(repeating: 0.1, count: 10), seed: 1)) > 0.04)
        #expect(NoiseFloors.pairedFloor(Array(repeating: 0, count: 10), seed: 1) == 0)
    }

    @Test("Separate runs: the greatest shift between any two, from three runs on")
    func unpaired() throws {
        let runs = [("a", 0.0), ("b", -0.05), ("c", 0.1)].enumerated().map { index, run in
            self.run(run.0, noise: 0.001, shift: run.1, seed: UInt64(index))
        }
        let floor = try #require(time(NoiseFloors.unpaired(runs)))
        #expect(abs(try #require(floor.noiseFloor) - (exp(0.15) - 1)) < 0.05)
        #expect(floor.runs == 3 && floor.comparison == .unpaired)
        #expect(NoiseFloors.unpaired(Array(runs.prefix(2))).isEmpty)
    }

    @Test("No floor from fewer blocks than an interval needs, nor for counts that barely vary")
    func absent() {
        #expect(NoiseFloors.paired([run("a", blocks: 5, noise: 0.01, seed: 1)]).isEmpty)
        let rows = NoiseFloors.paired([run("a", noise: 0.01, seed: 1)])
        #expect(!rows.isEmpty)
        #expect(!rows.contains { $0.metric == "allocations" || $0.metric == "rounds" })
    }

    @Test("Counts: the greatest difference between any two samples of one build, for both kinds of comparison")
    func counts() throws {
        let runs = [2000, 2040, 2010].map { count in
            var rows = Rows()
            for block in 0..<2 {
                rows.add(
                    kind: "allocations", block: block, run: "\(count)",
                    figures: [(.allocations, "total", "total", "", count, 1000)])
            }
            return rows.rows
        }
        let floors = NoiseFloors.counts(runs)
        #expect(floors.map(\.comparison) == ComparisonKind.allCases)
        #expect(floors.allSatisfy { abs(($0.noiseFloor ?? 0) - 0.02) < 1e-9 && $0.runs == 3 })
        #expect(NoiseFloors.counts(Array(runs.prefix(2))).isEmpty)
    }

    /// Layouts of ±a, each in two blocks: one pair of them is up to 2a apart, the estimate of 15 pairs by 0.54a in one
    /// of a hundred comparisons.
    @Test("Layouts: a floor for comparisons of one layout a side, and a lower one for those of fifteen")
    func layouts() throws {
        var generator = SplitMix64(seed: 5)
        var rows = Rows()
        let effects = (0..<60).map { _ in Double.random(in: -0.05...0.05, using: &generator) }
        for block in 0..<60 {
            for (side, offset) in [("base", 0), ("head", 1)] {
                let layout = 2 * (block % 30) + offset
                rows.addThroughput(block: block, seconds: exp(effects[layout]), side: side, layout: layout)
            }
        }
        let floors = NoiseFloors.paired([rows.rows]).filter { $0.metric == "time" && $0.phase == "total" }
        #expect(floors.map(\.comparison) == [.paired, .layouts])
        #expect((0.07...0.11).contains(try #require(floors[0].noiseFloor)))
        #expect((0.02...0.04).contains(try #require(floors[1].noiseFloor)))
    }

    @Test("The same runs give the same floors, and the file reads back")
    func reproducible() throws {
        let runs = [run("a", noise: 0.02, seed: 1)]
        let rows = NoiseFloors.paired(runs)
        #expect(NoiseFloors.paired(runs) == rows)
        #expect(try CSVFile.rows(NoiseFloorRow.self, text: CSVFile.text(of: rows), file: "f") == rows)
    }

    @Test("A floor is looked up by its figure and by the kind of comparison")
    func lookup() throws {
        let rows = NoiseFloors.paired([run("a", noise: 0.02, seed: 1)])
        let known = KnownNoiseFloors(rows, of: rows[0].host)
        var figure = CompareRow(
            cellID: "w", backend: .engine, phase: "total", operationClass: "", metric: "time", stat: "total")
        #expect(known.floor(of: figure, .paired) == time(rows)?.noiseFloor)
        #expect(known.floor(of: figure, .unpaired) == nil)
        let other = HostKind(hostClass: "another", allocator: "", configuration: "")
        #expect(KnownNoiseFloors(rows, of: other).floor(of: figure, .paired) == nil)
        // In a run on several hosts, each cell has the floors of its host.
        let mixed = KnownNoiseFloors(rows) { $0 == "w" ? rows[0].host : other }
        #expect(mixed.floor(of: figure, .paired) == time(rows)?.noiseFloor)
        #expect(KnownNoiseFloors(rows) { $0 == "w" ? nil : rows[0].host }.floor(of: figure, .paired) == nil)
        figure.cellID = "v"
        #expect(known.floor(of: figure, .paired) == nil)
    }
}
