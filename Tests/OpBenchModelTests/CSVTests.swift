import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("CSV files")
struct CSVTests {
    private func sample(_ change: (inout SampleRow) -> Void = { _ in }) -> SampleRow {
        var row = SampleRow(
            runID: "run", sampleID: "00001-throughput", timestampUTC: "2026-01-02T03:04:05Z", workload: "sample",
            cellID: "sample items=10", backend: .engine, block: 3, position: 1, phase: "total", status: .ok,
            flags: [.noisy, .short], metric: "time", stat: "total", value: 0.1, operations: 10,
            parameters: ["items": "10", "form": "closure"])
        change(&row)
        return row
    }

    /// The columns as documented, in lines of any length.
    private func names(_ lines: [String]) -> [String] {
        lines.flatMap { $0.split(separator: ",").map(String.init) }
    }

    @Test("The columns of samples.csv")
    func sampleColumns() {
        let documented = names([
            "schema_version,run_id,sample_id,timestamp_utc,host,workload,cell_id,backend,side,layout,block",
            "position,phase,iteration,operation_class,status,sample_flags,metric,stat,value,unit,direction",
            "deterministic,operations,notes",
        ])
        #expect(SampleRow.columns == documented)
    }

    @Test("The columns of summary.csv and histograms.csv")
    func otherColumns() {
        let documented = names([
            "schema_version,run_id,workload,cell_id,backend,operation_class,side,status,sample_flags,axis,samples",
            "low_mode_ns_per_op,high_mode_ns_per_op,high_mode_samples",
            "time_ns_per_op,time_ns_per_op_ci_low,time_ns_per_op_ci_high,throughput_ops_per_s",
            "throughput_ops_per_s_ci_low,throughput_ops_per_s_ci_high,throughput_items_per_s,time_ratio",
            "time_ratio_ci_low,time_ratio_ci_high,ratio_to,makespan_ns,scheduling_efficiency",
            "makespan_ratio,cancel_ns_per_op,release_ns_per_op,release_page_faults_per_op",
            "start_latency_p50_ns,start_latency_p50_ns_ci_low,start_latency_p50_ns_ci_high,start_latency_p90_ns",
            "start_latency_p99_ns,start_latency_p99_ns_ci_low,start_latency_p99_ns_ci_high,start_latency_p999_ns",
            "start_latency_max_ns,end_latency_p50_ns,end_latency_p50_ns_ci_low,end_latency_p50_ns_ci_high",
            "end_latency_p99_ns,end_latency_p99_ns_ci_low,end_latency_p99_ns_ci_high",
            "submit_latency_p50_ns,submit_latency_p50_ns_ci_low,submit_latency_p50_ns_ci_high",
            "submit_latency_p99_ns,submit_latency_p99_ns_ci_low,submit_latency_p99_ns_ci_high",
            "intended_latency_p50_ns,intended_latency_p50_ns_ci_low,intended_latency_p50_ns_ci_high",
            "intended_latency_p99_ns,intended_latency_p99_ns_ci_low,intended_latency_p99_ns_ci_high",
            "intended_latency_p999_ns,recorded_latency_p50_ns,recorded_latency_p99_ns",
            "service_latency_p50_ns,service_latency_p50_ns_ci_low",
            "service_latency_p50_ns_ci_high,service_latency_p99_ns,service_latency_p99_ns_ci_low",
            "service_latency_p99_ns_ci_high,service_latency_p999_ns",
            "submit_lag_p99_ns,sustained_rate_per_s,arrival_rate_per_s,completion_rate_per_s,recorded_rate_per_s,capacity_per_s",
            "notify_latency_p50_ns,notify_latency_p99_ns,self_perturbation",
            "cpu_ns_per_op,voluntary_switches_per_op,involuntary_switches_per_op,page_faults_per_op",
            "futex_calls_per_op,threads_created,instructions_per_op,hardware_instructions_per_op,cycles_per_op",
            "cache_misses_per_op,branch_misses_per_op",
            "allocations_per_op,allocated_bytes_per_op,retained_bytes_per_pending_op,unreleased_bytes,peak_resident_bytes,inversions",
            "starts_after_suspend,quiesce_p90_ns,resume_to_start_p90_ns,cpu_share",
        ])
        #expect(SummaryRow.columns == documented)
        #expect(
            HistogramRow.columns
                == names([
                    "schema_version,workload,cell_id,backend,side,sample_id,stage,operation_class,upper_bounds_ns,counts"
                ]))
        #expect(
            CompareRow.columns
                == names([
                    "schema_version,run_id,cell_id,backend,phase,operation_class,metric,stat,against,base_value,head_value",
                    "ratio,ci_low,ci_high,blocks,p,p_adjusted,threshold,at_most,verdict,reason,remedy",
                ]))
    }

    @Test("A row as written in the file")
    func line() {
        #expect(CSVFile.header(of: SampleRow.self, parameters: ["b", "a"]).hasSuffix(",notes,param_a,param_b\n"))
        #expect(
            CSVFile.line(of: sample(), parameters: ["items", "depth", "form"])
                == "1,run,00001-throughput,2026-01-02T03:04:05Z,,sample,sample items=10,engine,,,3,1,total,,,ok,"
                + "noisy;short,time,total,0.1,ns,lower,false,10,,,closure,10\n")
    }

    @Test("An absent figure is empty, and so is one that is not a number")
    func absent() throws {
        for value in [nil, .nan, .infinity] as [Double?] {
            let text = CSVFile.text(of: [sample { $0.value = value }])
            #expect(text.contains(",total,,ns,"))
            #expect(try CSVFile.rows(SampleRow.self, text: text, file: "x")[0].value == nil)
        }
    }

    @Test("Rows read back as written, whatever the text and the figure")
    func roundTrip() throws {
        var generator = Numbers(state: 3)
        let pieces = ["", " ", ",", "\"", "\n", "\r\n", "é😀", "a", " b ", "\"\"", "\"\u{301}", "\t"]
        let figures: [Double] = [0, 1, 0.1, .pi, 1e-60, 1e60, 1e16]
        for extreme in [-0.0, 1e-300, -1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude] as [Double] {
            #expect(FigureText.read(FigureText.write(extreme)) == extreme)
        }
        let rows = (0..<300).map { index in
            sample { row in
                row.notes = (0..<4).map { _ in pieces.randomElement(using: &generator)! }.joined()
                row.operationClass = pieces.randomElement(using: &generator)!
                row.value = Bool.random(using: &generator) ? nil : figures.randomElement(using: &generator)!
                row.iteration = Bool.random(using: &generator) ? nil : index
                row.metric = Metric.catalogue.randomElement(using: &generator)!.name
                row.status = SampleStatus.allCases.randomElement(using: &generator)!
                row.parameters = index % 2 == 0 ? ["a": "1"] : ["b,": "x y"]
            }
        }
        let text = CSVFile.text(of: rows)
        #expect(try CSVFile.rows(SampleRow.self, text: text, file: "x") == rows)
        let unquoted = CSVFile.text(of: [sample(), sample()])
        let withCarriageReturns = unquoted.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
        #expect(try CSVFile.rows(SampleRow.self, text: withCarriageReturns, file: "x").count == 2)
    }

    @Test("Summaries and histograms are read back")
    func otherRows() throws {
        var summary = SummaryRow(
            runID: "run", workload: "w", cellID: "w a=1", backend: .dispatch, operationClass: "priority=low",
            status: .timeout, samples: 7, parameters: ["a": "1"])
        summary[.timeRatio].value = 0.5
        summary.ratioTo = .dispatch
        summary[.resumeToStartP90].value = 12
        summary.flags = [.noisy, .overloaded]
        summary.modes = Modes(low: 1.5, high: 2.25, highSamples: 3)
        let text = CSVFile.text(of: [summary])
        #expect(try CSVFile.rows(SummaryRow.self, text: text, file: "x") == [summary])
        summary[.startLatencyP50] = .init(low: 1, high: 2.5)
        let both = CSVFile.text(of: [summary])
        #expect(try CSVFile.rows(SummaryRow.self, text: both, file: "x") == [summary])
        let histogram = HistogramRow(
            workload: "w", cellID: "w items=1, 2", backend: .dispatch, side: "base", sampleID: "1-latency",
            stage: "start", operationClass: "priority=low", upperBoundsNanoseconds: [0, 63, .max], counts: [1, 2, 3])
        let line = CSVFile.line(of: histogram)
        #expect(
            line
                == "1,w,\"w items=1, 2\",dispatch,base,1-latency,start,priority=low,0 63 9223372036854775807,1 2 3\n")
        let rows = [histogram, .blank]
        #expect(try CSVFile.rows(HistogramRow.self, text: CSVFile.text(of: rows), file: "x") == rows)
        for (old, new) in [
            ("1 2 3", "1 2"), ("1 2 3", "1  2"), ("1 2 3", "1 2 x"), ("0 63", "0 6.3"), ("1 2 3", "1 -2 3"),
            ("0 63", "-1 63"), ("0 63", "63 0"),
        ] {
            let text = CSVFile.text(of: [histogram]).replacing(old, with: new)
            #expect(throws: InputError.self) { try CSVFile.rows(HistogramRow.self, text: text, file: "x") }
        }
    }

    @Test("A file truncated at any byte is refused")
    func cut() throws {
        let text = CSVFile.text(of: [sample(), sample { $0.notes = "two\nlines, \"quoted\"" }])
        let bytes = Array(text.utf8)
        for length in 1..<bytes.count where bytes[length - 1] != UInt8(ascii: "\n") {
            let cut = String(decoding: bytes[..<length], as: UTF8.self)
            _ = refusal { _ = try CSVFile.rows(SampleRow.self, text: cut, file: "x") }
        }
    }

    @Test("The complete lines of a truncated file can be read, with their size")
    func recovered() throws {
        let whole = CSVFile.text(of: [sample(), sample { $0.notes = "two\nlines" }])
        let more = CSVFile.line(of: sample { $0.notes = "a \"quoted\nline" }, parameters: ["form", "items"])
        for length in 0..<more.utf8.count {
            try Fixtures.withFile(whole + String(decoding: more.utf8.prefix(length), as: UTF8.self)) { file in
                let recovered = try CSVFile.readWholeLines(SampleRow.self, file: file)
                #expect(recovered.rows.count == 2 && recovered.byteCount == whole.utf8.count)
            }
        }
    }

    @Test("Another version is refused by name, whatever its columns")
    func otherVersion() throws {
        func path(_ text: String) -> String? {
            refusal { _ = try CSVFile.rows(SampleRow.self, text: text, file: "samples.csv") }.path
        }
        let row = CSVFile.text(of: [SampleRow.blank])
        for text in [
            row.replacing("\n1,", with: "\n2,"), "schema_version,run_id,what\n2,r,x\n",
            "schema_version,run_id,what\n2,r,x,y,z\n",
        ] { #expect(path(text) == "column schema_version") }
        // Without a readable version, the columns are reported as wrong.
        for text in ["schema_version,run_id,what\n", "schema_version,run_id,what\nx,r,x\n"] {
            #expect(path(text) == "column 3")
        }
        #expect(path("run_id,what\n2,x\n") == "column 1")
    }

    @Test("Invalid content is refused with file, line and column")
    func foreign() throws {
        let text = CSVFile.text(of: [sample(), sample()])
        func error(_ text: String) -> InputError {
            refusal { _ = try CSVFile.rows(SampleRow.self, text: text, file: "samples.csv") }
        }
        func changed(_ old: String, _ new: String) -> InputError {
            error(text.replacing(old, with: new, maxReplacements: 1))
        }

        #expect(error("a,b\n1,2\n").path == "column 1")
        #expect(changed("run_id", "runid").path == "column 2")
        #expect(changed("\n1,", "\n2,").path == "column schema_version")
        #expect(changed("0.1,", "fast,").path == "column value")
        #expect(changed("0.1,", "nan,").path == "column value")
        #expect(changed("0.1,", "0x1p3,").path == "column value")
        for impossible in ["-5", "-0", "1e-400", "1e-61", "1e61", "1e400", "inf"] {
            let refused = changed("0.1,", "\(impossible),")
            #expect(refused.path == "column value" && refused.line == 2, "\(impossible)")
        }
        for (old, new, column) in [
            (",3,1,total", ",-3,1,total", "block"), (",3,1,total", ",3,-1,total", "position"),
            ("false,10,", "false,-10,", "operations"), ("false,10,", "false,0,", "operations"),
        ] { #expect(changed(old, new).path == "column \(column)", "\(new)") }
        #expect(changed(",3,1,", ",3.5,1,").path == "column block")
        #expect(changed(",ok,", ",fine,").path == "column status")
        #expect(changed(",time,", ",tempo,").path == "column unit")
        #expect(changed(",ns,lower", ",s,lower").path == "column unit")
        let others = [
            ("empty", error("")), ("no notes", changed(",notes", "")), ("form", changed("param_form", "form")),
            ("param_zzz", changed("param_form", "param_zzz")), ("param.form", changed("param_form", "param.form")),
            ("version 2", changed("\n1,", "\n2,")), ("no last field", changed("closure,10\n", "closure\n")),
            ("a quote in a field", changed(",closure", ",clo\"sure")),
            ("a quote in a quoted field", changed(",closure", ",\"clo\"sure")),
            ("a carriage return", changed(",closure", ",clo\rsure")),
        ]
        Golden("csv-refusals").expect(others.map { "\($0): \($1)" }.joined(separator: "\n"), "samples.csv")
        #expect(error(text + "\n").line == 4)
    }

    @Test("The remedy for a file of another kind names the right kind")
    func wrongFile() throws {
        try Fixtures.withFile(CSVFile.text(of: [HistogramRow.blank])) { file in
            #expect(refusal { _ = try CSVFile.read(SampleRow.self, file: file) }.remedy.contains("samples.csv"))
        }
    }

    @Test(
        "Names of parameters are as written: an export keeps their order", arguments: ["a\u{1}", "a::", "##["])
    func parameterNames(name: String) {
        let header = CSVFile.header(of: SampleRow.self, parameters: ["a", name])
        #expect(refusal { _ = try CSVFile.rows(SampleRow.self, text: header, file: "x.csv") }.line == 1)
    }
}

@Suite("Metrics")
struct MetricTests {
    @Test("Each is declared once and found by its name")
    func names() {
        #expect(Set(Metric.catalogue.map(\.name)).count == Metric.catalogue.count)
        let signed = Metric.catalogue.filter { $0.allows(-1) }.map(\.name)
        #expect(signed == ["round_change", "effective_nice", "retained_bytes", "unreleased_bytes"])
        for metric in Metric.catalogue {
            #expect(Metric.named(metric.name) == metric)
            #expect(metric.name.allSatisfy { $0.isLowercase || $0 == "_" } && !metric.summary.isEmpty)
        }
        #expect(Metric.named("speed") == nil)
    }

    @Test("Several peaks are aggregated by the maximum, other figures by the median")
    func aggregation() {
        #expect(Metric.startLatency.aggregation(ofStat: "max") == .maximum)
        #expect(Metric.startLatency.aggregation(ofStat: "p99") == .median)
        #expect(Metric.peakResident.aggregation(ofStat: "total") == .maximum)
    }
}
