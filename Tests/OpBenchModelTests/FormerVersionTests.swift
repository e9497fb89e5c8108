import Foundation
import Testing

@testable import OpBenchModel

/// Files of version 1, as the opbench of then wrote them: read as if they had been written today.
@Suite("Files of former versions")
struct FormerVersionTests {
    private func rows<Row: CSVRow>(_: Row.Type, _ text: String) throws -> [Row] {
        try CSVFile.rows(Row.self, text: text, file: "old.csv")
    }

    @Test("samples.csv: seconds become nanoseconds, other units stay")
    func samples() throws {
        let text = """
            schema_version,run_id,sample_id,timestamp_utc,workload,cell_id,backend,side,block,position,phase,iteration,\
            class,status,flags,metric,stat,value,unit,direction,deterministic,operations,notes,param.items,param.work_ns
            1,r,0-t,2026-01-01T00:00:00Z,w,w items=9,engine,head,3,1,total,,,ok,noisy;short,time,total,0.000123457,s,lower,\
            false,9,,9,0
            1,r,1-l,2026-01-01T00:00:00Z,w,w items=9,engine,head,3,1,,,priority=low,ok,,start_latency,mean,1.5e-10,s,lower,\
            false,9,"a, b",9,0
            1,r,0-t,2026-01-01T00:00:00Z,w,w items=9,engine,head,3,1,total,,,ok,,throughput_ops,rate,72900,1/s,higher,\
            false,9,,9,0
            1,r,0-t,2026-01-01T00:00:00Z,w,w items=9,engine,head,3,1,,,,ok,,status,,,count,neutral,false,9,,9,0

            """
        let rows = try rows(SampleRow.self, text)
        #expect(rows.map(\.value) == [123_457, 0.15, 72900, nil])
        #expect(rows[1].operationClass == "priority=low" && rows[0].flags == ["noisy", "short"])
        #expect(rows[0].parameters == ["items": "9", "work_ns": "0"] && rows[1].notes == "a, b")
        // Written again, it is a file of today.
        let again = CSVFile.text(of: rows)
        #expect(
            again.contains("operation_class,status,sample_flags,")
                && again.contains(",notes,param_items,param_work_ns\n"))
        #expect(again.contains(",time,total,123457,ns,lower,"))
        #expect(try self.rows(SampleRow.self, again) == rows)
        // The unit is that of the version.
        #expect(throws: InputError.self) {
            try self.rows(SampleRow.self, text.replacing(",s,lower", with: ",ns,lower"))
        }
    }

    @Test(
        "Whole nanoseconds that were written as seconds come back as they were", arguments: [1, 3, 10, 1_000_000_007])
    func exactNanoseconds(step: Int) {
        let wrong = (0..<10_000).map { Double($0 * step + $0) }.filter { FormerTime.nanoseconds($0 / 1e9) != $0 }
        #expect(wrong.isEmpty)
    }

    @Test("summary.csv: the makespan in nanoseconds, the time per operation from the throughput")
    func summary() throws {
        let text = try Fixtures.text(Fixtures.package.appending(path: "scripts/tests/data/summary-1.csv"))
        let lines = text.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let rows = try rows(SummaryRow.self, text)
        #expect(rows.count == lines.count - 1 && rows.count > 50)
        let (rate, makespan) = try (
            #require(lines[0].firstIndex(of: "throughput_ops_per_s")), #require(lines[0].firstIndex(of: "makespan_s"))
        )
        for (row, line) in zip(rows, lines.dropFirst()) {
            #expect(row.operationsPerSecond == Double(line[rate]))
            #expect(row.timePerOperation == Double(line[rate]).map { 1e9 / $0 })
            #expect(row.timePerOperationLow == row.operationsPerSecondHigh.map { 1e9 / $0 })
            #expect(row.timePerOperationHigh == row.operationsPerSecondLow.map { 1e9 / $0 })
            let ratio = row.makespanNanoseconds.flatMap { new in Double(line[makespan]).map { new / $0 } }
            #expect(ratio.map { abs($0 / 1e9 - 1) < 1e-12 } ?? line[makespan].isEmpty)
        }
        #expect(try self.rows(SummaryRow.self, CSVFile.text(of: rows)) == rows)
    }

    @Test("compare.csv, goals.csv and noise-floors.csv: times are converted, ratios stay")
    func judged() throws {
        let compared = try rows(
            CompareRow.self,
            """
            cell_id,backend,phase,class,metric,stat,base,head,ratio,ci_low,ci_high,p,p_adjusted,noise_floor,threshold,verdict
            w,engine,total,,time,total,1e-06,2e-06,2,1.9,2.1,0.01,0.02,0.1,0.1,regression
            w,engine,total,,time_ratio,total,0.5,1,2,1.9,2.1,0.01,0.02,0.1,0.1,regression

            """)
        #expect(compared.map(\.base) == [1000, 0.5] && compared.map(\.head) == [2000, 1])
        #expect(compared[0].ratio == 2 && compared[0].noiseFloor == 0.1)
        let goals = try rows(
            GoalRow.self,
            """
            schema_version,run_id,cell_id,backend,phase,class,metric,stat,against,value,base,ratio,ci_low,ci_high,blocks,\
            at_most,verdict
            1,r,w,engine,total,,time,total,dispatch,2.5e-07,5e-07,0.5,0.4,0.6,7,0.7,met
            1,r,w,engine,,,start_latency,p99,,2.5e-06,,,2e-06,3e-06,7,5e-06,met

            """)
        #expect(goals[0].value == 250 && goals[0].base == 500 && goals[0].low == 0.4 && goals[0].atMost == 0.7)
        #expect(goals[1].value == 2500 && goals[1].low == 2000 && goals[1].high == 3000 && goals[1].atMost == 5000)
        let floors = try rows(
            NoiseFloorRow.self,
            """
            schema_version,host_class,allocator,configuration,comparison,cell_id,backend,phase,class,metric,stat,\
            noise_floor,runs,blocks
            1,h,system,release,paired,w,engine,total,priority=low,time,total,0.02,3,45

            """)
        #expect(floors[0].noiseFloor == 0.02 && floors[0].operationClass == "priority=low")
    }

    @Test("histograms.csv: a row for each bucket becomes one for each histogram, with cell and backend of its sample")
    func histograms() throws {
        var sample = SampleRow.blank
        (sample.sampleID, sample.workload, sample.cellID, sample.backend) = ("7-latency", "w", "w items=9", .serial)
        sample.side = "base"
        let text = """
            sample_id,stage,class,upper_bound_ns,count
            7-latency,start,,10,1
            7-latency,start,,1010,2
            7-latency,start,,1015,3
            7-latency,start,priority=low,5,9
            7-latency,end,,5,4
            8-latency,end,,5,4

            """
        let rows = try Fixtures.withFile(text) { try HistogramFile.read($0, samples: [sample]) }
        #expect(rows.map(\.counts) == [[1, 5], [9], [4]] && rows.map(\.stage) == ["start", "start", "end"])
        #expect(rows[0].upperBoundsNanoseconds == [10, 1023] && rows[1].operationClass == "priority=low")
        #expect(rows.allSatisfy { $0.cellID == "w items=9" && $0.backend == .serial && $0.side == "base" })
        let again = try Fixtures.withFile(CSVFile.text(of: rows)) { try HistogramFile.read($0, samples: []) }
        #expect(again == rows, "a file of today needs no samples")
    }

    @Test("histograms.csv: buckets add up to no more than there are numbers, and each has its count")
    func histogramsOfAnyNumbers() throws {
        var sample = SampleRow.blank
        (sample.sampleID, sample.cellID) = ("7-latency", "w")
        let header = "sample_id,stage,class,upper_bound_ns,count\n"
        let text = header + "7-latency,start,,1010,9223372036854775807\n7-latency,start,,1015,3\n"
        let rows = try Fixtures.withFile(text) { try HistogramFile.read($0, samples: [sample]) }
        #expect(rows.map(\.counts) == [[.max]])
        let error = refusal {
            _ = try self.rows(HistogramRow.self, header + "7-latency,start,,10 11,1\n")
        }
        #expect(error.path == "column count" && error.remedy.contains("as many counts"))
    }

    @Test("Seconds that no Double holds in nanoseconds stay figures")
    func greatTimes() throws {
        #expect(FormerTime.nanoseconds(1e305) == .greatestFiniteMagnitude)
        #expect(FormerTime.nanoseconds(-1e305) == -.greatestFiniteMagnitude)
        var row = SummaryRow.blank
        row.operationsPerSecond = 1e-300
        row.convert(from: .one)
        #expect(row.timePerOperation == .greatestFiniteMagnitude)
    }

    @Test("compare.csv and goals.csv of the current version from before they had reasons")
    func withoutReasons() throws {
        func without<Row: CSVRow>(_ row: Row) -> String {
            CSVFile.text(of: [row]).split(separator: "\n").map { line in
                line.split(separator: ",", omittingEmptySubsequences: false).dropLast(2).joined(separator: ",") + "\n"
            }.joined()
        }
        var compared = CompareRow.blank
        (compared.cellID, compared.base, compared.verdict) = ("w", 5, .inconclusive)
        #expect(try rows(CompareRow.self, without(compared)) == [compared])
        var goal = GoalRow.blank
        (goal.cellID, goal.blocks, goal.verdict) = ("w", 5, .inconclusive)
        #expect(try rows(GoalRow.self, without(goal)) == [goal])
        // Half of what was added is no file of any time.
        let half = without(compared).replacing(",verdict\n", with: ",verdict,reason\n")
        #expect(refusal { _ = try rows(CompareRow.self, half) }.description.contains("\"settled_by\" belongs"))
        #expect(CompareRow.columns.suffix(2) == GoalRow.columns.suffix(2))
    }

    // MARK: Newer ones

    @Test("A newer version is refused by its name, whatever its columns are")
    func newer() throws {
        func message(_ text: String) -> String {
            refusal { _ = try CSVFile.rows(SampleRow.self, text: text, file: "new.csv") }.description
        }
        let row = CSVFile.text(of: [SampleRow.blank])
        let ofToday = "\n\(SchemaVersion.current.rawValue),"
        let expected = "new.csv:2: column schema_version: \"4\" is a newer version than this opbench knows, which is 3"
        #expect(message(row.replacing(ofToday, with: "\n4,")).hasPrefix(expected))
        #expect(message("schema_version,run_id,what\n4,r,x\n").hasPrefix(expected))
        #expect(message("schema_version,run_id,what\n4,r,x,y,z\n").hasPrefix(expected))
        // Of no version that tells, it is the columns that are wrong.
        #expect(message("schema_version,run_id,what\n").contains("\"sample_id\" belongs"))
        #expect(message("schema_version,run_id,what\nx,r,x\n").contains("\"sample_id\" belongs"))
        #expect(message("run_id,what\n3,x\n").contains("\"schema_version\" belongs"))
        // Columns of one version with rows of the other.
        #expect(message(row.replacing(ofToday, with: "\n1,")).contains("\"1\" is not a valid value"))
    }

    @Test("Every version tells what it is")
    func versions() {
        #expect(SchemaVersion.current == SchemaVersion.allCases.max())
        #expect(SchemaVersion.allCases.map(\.rawValue) == Array(1...SchemaVersion.current.rawValue))
        #expect(SampleRow.columns(of: .one).map(\.name) != SampleRow.columns)
    }
}

@Suite("Buckets of latencies")
struct LatencyBucketTests {
    @Test("Each value is in one bucket, as wide as stated, and the buckets do not overlap")
    func buckets() {
        var values = Array(0...5000) as [Int64]
        for octave in 5..<62 { values += [-1, 0, 1].map { (Int64(1) << octave) + $0 } }
        values += [.max - 1, .max]
        let wrong = values.filter { value in
            let bound = LatencyBuckets.upperBound(of: value)
            let isIn = bound >= value && Double(bound - value) <= Double(value) * LatencyBuckets.relativeWidth
            let isLast = bound == .max || LatencyBuckets.upperBound(of: bound + 1) > bound
            return !isIn || !isLast || LatencyBuckets.upperBound(of: bound) != bound
        }
        #expect(wrong.isEmpty)
        #expect((0..<64).allSatisfy { LatencyBuckets.upperBound(of: $0) == $0 })
        #expect(LatencyBuckets.upperBound(of: -5) == 0)
    }

    @Test("A histogram of 100,000 latencies over six decades takes a few kilobytes")
    func size() throws {
        let values = (0..<100_000).map { index in
            (upperBound: Int64(100 * pow(10, 6 * Double(index) / 100_000)), count: Int64(1))
        }
        let merged = LatencyBuckets.merged(values)
        #expect(merged.count < 660)
        let row = HistogramRow(
            workload: "tiny-vs-batched", cellID: "tiny-vs-batched items_per_operation=100", backend: .foundation,
            sampleID: "00123-latency", stage: "start", upperBoundsNanoseconds: merged.map(\.upperBound),
            counts: merged.map(\.count))
        #expect(CSVFile.line(of: row).utf8.count < 8 << 10)
        // Even one of all times that there are is within what a reader takes.
        var times: [(upperBound: Int64, count: Int64)] = []
        for octave in 6..<62 {
            let start = Int64(1) << octave
            for part in 0..<64 as Range<Int64> { times.append((upperBound: start + start / 64 * part, count: 1)) }
        }
        let all = LatencyBuckets.merged(times)
        let bounds = all.map { String($0.upperBound) }.joined(separator: " ")
        #expect(all.count > 1000 && bounds.utf8.count < 1 << 16)
    }

    @Test("Histograms add up: the sum of two is that of all their values")
    func sums() {
        let values = (0..<3000).map { Int64($0 * $0 * 7 % 1_000_003) }
        func merged(_ values: some Sequence<Int64>) -> [Int64: Int64] {
            Dictionary(
                uniqueKeysWithValues: LatencyBuckets.merged(values.map { (upperBound: $0, count: 1) }).map {
                    ($0.upperBound, $0.count)
                })
        }
        let parts = merged(values.prefix(1000)).merging(merged(values.dropFirst(1000)), uniquingKeysWith: +)
        #expect(parts == merged(values) && parts.values.reduce(0, +) == 3000)
    }
}
