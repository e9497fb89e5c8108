@testable import OpBenchModel

/// Much of one thing, for which a reader that is careless with one of its loops takes time or memory by the square of
/// its length.
struct Heap: Sendable {
    let reader: FuzzReader
    let name: String
    /// Makes a text of about so many bytes.
    let text: @Sendable (Int) -> String

    private init(_ reader: FuzzReader, _ name: String, _ start: String, _ part: String, _ end: String = "") {
        (self.reader, self.name) = (reader, name)
        text = { start + String(repeating: part, count: $0 / part.utf8.count) + end }
    }

    private init(_ reader: FuzzReader, _ name: String, text: @escaping @Sendable (Int) -> String) {
        (self.reader, self.name, self.text) = (reader, name, text)
    }

    static let all =
        [FuzzReader.workload, .policy, .description].flatMap(documents) + workloads + policies + files

    private static func documents(_ reader: FuzzReader) -> [Heap] {
        [
            Heap(reader, "commas left out", "[", "1 "), Heap(reader, "open lists", "", "["),
            Heap(reader, "open objects", "", "{\"a\":"), Heap(reader, "one name", "{", "\"a\":1,", "\"b\":1}"),
            Heap(reader, "escaped marks", "[\"", "\\u0301", "\"]"), Heap(reader, "marks", "[\"", "\u{301}", "\"]"),
            Heap(reader, "comments", "", "/**/"), Heap(reader, "one comment", "/*", "*"),
            Heap(reader, "blanks", "", "\n "),
            Heap(reader, "digits", "", "9"), Heap(reader, "one long name", "{\"", "a", "\": 1, \"\": 1}"),
            Heap(reader, "quotes", "", "\""), Heap(reader, "backslashes", "\"", "\\"),
            Heap(reader, "null characters", "\"", "\u{0}"),
            Heap(reader, "one name within a long one") { length in
                "{\"" + String(repeating: "é", count: length / 4) + "\": {"
                    + String(repeating: "\"a\":1,", count: length / 12)
            },
        ]
    }

    private static let workload = #"{"name": "w", "summary": "s", "shape": "independent", "parameters": {}, "#

    private static let workloads = [
        Heap(.workload, "backends", workload + "\"backends\": [", "\"engine\",", "\"serial\"]}"),
        Heap(.workload, "backends of two kinds") { length in
            workload + "\"backends\": [" + String(repeating: "\"engine\",", count: length / 20)
                + String(repeating: "\"dispatch\",", count: length / 20) + "\"serial\"]}"
        },
        Heap(.workload, "unknown backends", workload + "\"backends\": [", "\"a\",", "\"b\"]}"),
        Heap(.workload, "unknown kinds", workload + "\"backends\": [\"engine\"], \"metrics\": [", "\"a\",", "\"b\"]}"),
        Heap(.workload, "unknown keys") { length in
            workload + "\"backends\": [\"engine\"]" + (0..<length / 10).map { ",\"k\($0)\":1" }.joined() + "}"
        },
        Heap(.workload, "unknown parameters") { length in
            workload.replacing("{}", with: "{" + (0..<length / 10).map { "\"k\($0)\":1," }.joined() + "\"items\": 1}")
                + "\"backends\": [\"engine\"]}"
        },
        Heap(.workload, "one value") { length in
            workload.replacing("{}", with: "{\"items\": [" + String(repeating: "1,", count: length / 2) + "2]}")
                + "\"backends\": [\"engine\"]}"
        },
        Heap(.workload, "digits of a value") { length in
            workload.replacing("{}", with: "{\"items\": 0.\(String(repeating: "1", count: length))}")
                + "\"backends\": [\"engine\"]}"
        },
        Heap(.description, "workloads of many cells") { length in
            let list = Array(1...(length > 1 << 16 ? 46 : 8))
            let parameters = "{\"items\": \(list), \"work_ns\": \(list), \"max_concurrent\": \(list)}"
            let text = workload.replacing("{}", with: parameters) + "\"backends\": [\"engine\"]}"
            let each = "{\"file\": \"w\", \"name\": \"w\", \"sha256\": \"\", \"text\": \(JSONText.quoted(text))}"
            let all = [String](repeating: each, count: max(2, length / each.utf8.count)).joined(separator: ",")
            return """
                {"schema_version": "1", "run_id": "r", "started_utc": "", "arguments": [], "seed": 1, "quick": true,
                 "timeout_ns": 1, "calibration": {"iterations_per_ns": 1}, "order": [], "cpu": "", "cores": 1,
                 "memory_bytes": 1, "host_class": "", "allocator": "", "configuration": "",
                 "workloads": [\(all)]}
                """
        },
        Heap(.workload, "cells of long names") { length in
            let weights = (0..<100).map { "\"0.\(100_000 + $0)\": 0.123456789\($0)" }.joined(separator: ",")
            let values = (0..<min(length / 8, 100_000)).map(String.init).joined(separator: ",")
            return #"{"name": "w", "summary": "s", "shape": "thread_priority", "backends": ["engine"], "parameters": "#
                + "{\"mix\": {\(weights)}, \"work_ns\": [\(values)]}}"
        },
    ]

    private static let policies = [
        Heap(.policy, "rules", "{\"version\": 1, \"rules\": [", "{},", "{}]}"),
        Heap(.policy, "digits of a bound") { length in
            let digits = String(repeating: "1", count: length / 2)
            return
                "{\"version\": 1, \"alpha\": 0.\(digits), \"rules\": [{\"metric\": \"time\", \"max_regression\": 0.\(digits)}]}"
        },
        Heap(.policy, "versions", "{", "\"version\": 1,", "\"rules\": []}"),
    ]

    private static let files: [Heap] = {
        // Of the samples, in one part.
        let start = "\u{0}\u{0}"
        let header = CSVFile.header(of: SampleRow.self)
        let digits = String(repeating: "1", count: 60_000)
        let row = CSVFile.line(of: SampleRow.blank).replacing(",,", with: ",\(digits),", maxReplacements: 1)
        return [
            Heap(.csv, "columns", start, ","), Heap(.csv, "quotes", start, "\""), Heap(.csv, "lines", start, "\n"),
            Heap(.csv, "rows that are cut off", start + header, SchemaVersion.current + ",r\n"),
            Heap(.csv, "one field", start, "a"),
            Heap(.csv, "long fields", start + header, row),
            Heap(.csv, "rows", start + header, CSVFile.line(of: SampleRow.blank)),
            Heap(
                .csv, "digits of a figure", start + header,
                CSVFile.line(of: SampleRow.blank).replacing(",,,a m", with: ",,\(digits),a m")),
            Heap(.csv, "carriage returns", start, "\r"), Heap(.csv, "marks", start + "\"", "\u{301}", "\"\n"),
            Heap(.csv, "parts of one byte", "\u{0}\u{1}" + header, "r,"),
        ]
    }()
}
