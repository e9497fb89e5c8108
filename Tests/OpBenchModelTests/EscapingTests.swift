import Foundation
import FoundationXML
import TestSupport
import Testing

@testable import OpBenchModel

/// Every escaping of text for another language, tested with hostile strings: its reader restores the text, or nothing
/// dangerous is left in it.
@Suite("Escaping") struct EscapingTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4]

    /// Tests a property with many strings; stops at the first failure.
    private func hold(_ seed: UInt64, _ property: (String) throws -> Bool) rethrows {
        var texts = HostileText(seed: seed)
        for _ in 0..<HostileText.count / Self.seeds.count {
            let text = texts.next()
            guard try !property(text) else { continue }
            Issue.record("fails for \(text.debugDescription)")
            return
        }
    }

    private func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    // MARK: CSV

    @Test("CSV: a line of any fields reads back, byte for byte", arguments: seeds)
    func csv(seed: UInt64) throws {
        var others = HostileText(seed: seed &+ 100)
        try hold(seed) { text in
            let fields = [text, others.next(), text]
            var rest = Array(CSVText.line(fields).utf8)
            var reader = CSVReader(file: "x")
            func next() throws(InputError) -> [UInt8] {
                // In parts, so that every offset is a boundary once.
                defer { rest = Array(rest.dropFirst(7)) }
                return Array(rest.prefix(7))
            }
            guard try reader.read(next), reader.record.count == fields.count else { return false }
            let isRead = fields.indices.allSatisfy { reader.record.field($0).elementsEqual(fields[$0].utf8) }
            return try isRead && !reader.read(next)
        }
    }

    @Test("samples.csv: every text field reads back exactly, formulas included", arguments: seeds)
    func samples(seed: UInt64) throws {
        var others = HostileText(seed: seed &+ 200)
        try hold(seed) { text in
            var row = SampleRow.blank
            (row.runID, row.cellID, row.workload, row.operationClass) = (text, others.next(), text, others.next())
            (row.notes, row.sampleID, row.backend) = (others.next(), text, BackendID(rawValue: others.next()))
            (row.metric, row.stat, row.phase) = ("time", text, others.next())
            row.flags = SampleFlag.allCases.filter { _ in others.next().isEmpty }
            (row.value, row.operations) = (others.figure(Metric.time.allows), 1)
            let value = others.next()
            row.parameters = value.isEmpty ? [:] : ["p": value]
            let read = try CSVFile.rows(SampleRow.self, text: CSVFile.text(of: [row]), file: "x")
            guard read.count == 1, read[0] == row else { return false }
            // `==` treats canonically equivalent texts as equal.
            return isSame(CSVFile.text(of: read), CSVFile.text(of: [row]))
        }
    }

    @Test(
        "Exported CSV: a field is on one line, no text field is a formula, and numbers are unchanged",
        arguments: seeds)
    func exports(seed: UInt64) throws {
        try hold(seed) { text in
            var row = SummaryRow.blank
            (row.cellID, row.operationClass, row[.timeRatio].value) = (text, text, -5.5)
            row.parameters = ["number": "-5", "text": text]
            let line = CSVFile.line(of: row, parameters: ["number", "text"])
            guard line.utf8.filter({ $0 == UInt8(ascii: "\n") }).count == 1 else { return false }
            var reader = CSVReader(file: "x")
            var rest = Array(line.utf8)
            _ = try reader.read { () throws(InputError) in
                defer { rest = [] }
                return rest
            }
            let fields = (0..<reader.record.count).map { String(decoding: reader.record.field($0), as: UTF8.self) }
            let columns = SummaryRow.columns
            guard fields[columns.count] == "-5", fields[columns.firstIndex(of: "time_ratio")!] == "-5.5" else {
                return false
            }
            return ["cell_id", "operation_class"].allSatisfy { !isFormula(fields[columns.firstIndex(of: $0)!]) }
                && (!isFormula(fields.last!) || FigureText.read(text) != nil)
        }
    }

    private func isFormula(_ field: String) -> Bool {
        "=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars.contains { field.unicodeScalars.first == $0 }
    }

    // MARK: JSON

    @Test(
        "JSON: both readers restore the string, and no scalar in it affects a terminal or is refused by YAML",
        arguments: seeds)
    func json(seed: UInt64) throws {
        try hold(seed) { text in
            let quoted = JSONText.quoted(text)
            let foundation = try JSONSerialization.jsonObject(with: Data("[\(quoted)]".utf8)) as? [String]
            guard case .string(let own) = try JSONParser.parse(quoted, file: "x").value.content else { return false }
            return isSame(own, text) && isSame(foundation?.first ?? "", text) && isHarmless(quoted, commands: false)
                && !quoted.utf8.contains("##[".utf8)
        }
    }

    // MARK: XML

    @Test("XML: a parser restores the attribute, with replacements for scalars that XML cannot hold", arguments: seeds)
    func xml(seed: UInt64) {
        final class Reader: NSObject, XMLParserDelegate {
            var value: String?
            func parser(
                _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
                attributes: [String: String]
            ) { value = attributes["v"] }
        }
        hold(seed) { text in
            let document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<t v=\"\(XMLText.attribute(text))\"/>"
            let parser = XMLParser(data: Data(document.utf8))
            let reader = Reader()
            parser.delegate = reader
            let expected = String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { scalar in
                        let isControl = scalar.value < 0x20 && !"\t\n\r".unicodeScalars.contains(scalar)
                        return isControl || [0xFFFE, 0xFFFF].contains(scalar.value) ? "\u{FFFD}" : scalar
                    }))
            return parser.parse() && isSame(reader.value ?? "", expected)
        }
    }

    // MARK: Markdown

    @Test("Markdown: a cell holds no markup, and its entities decode to the text", arguments: seeds)
    func markdown(seed: UInt64) {
        hold(seed) { text in
            let cell = MarkdownText.cell(text)
            let entity = /&#([0-9]+);/.matchingSemantics(.unicodeScalar)
            let entities = cell.replacing(entity) { String(Unicode.Scalar(UInt32($0.output.1)!)!) }
            let rest = cell.replacing(entity, with: "")
            return isSame(entities, TerminalText.escaped(text, limit: TerminalText.fieldLimit)) && isHarmless(cell)
                && !rest.unicodeScalars.contains { "\\`*[]<>&|~$!".unicodeScalars.contains($0) }
        }
    }

    // MARK: Workflow commands

    @Test(
        "Workflow commands: one line, from which the runner restores the title and the message",
        arguments: seeds)
    func workflowCommands(seed: UInt64) {
        var others = HostileText(seed: seed &+ 300)
        hold(seed) { text in
            let message = others.next()
            let line = WorkflowCommand.line("error", title: text, message: message)
            let bytes = Array(line.utf8)
            guard bytes.count(where: { $0 == 10 }) == 1, bytes.last == 10, !bytes.contains(13) else { return false }
            // As the runner splits it: the message is after the next two colons, properties are separated by commas.
            let body = bytes.dropFirst("::error title=".utf8.count).dropLast()
            guard let colon = body.firstIndex(of: UInt8(ascii: ":")), body[colon + 1] == UInt8(ascii: ":") else {
                return false
            }
            let title = body[..<colon]
            return !title.contains(UInt8(ascii: ",")) && isSame(unescaped(title), text)
                && isSame(unescaped(body[(colon + 2)...]), message)
        }
    }

    /// The runner replaces these, percent last.
    private func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.first {
            let code = String(decoding: rest.prefix(3), as: UTF8.self)
            let plain = ["%0D": 13, "%0A": 10, "%3A": 58, "%2C": 44, "%25": 37][code]
            result.append(plain.map(UInt8.init) ?? byte)
            rest = rest.dropFirst(plain == nil ? 1 : 3)
        }
        return String(decoding: result, as: UTF8.self)
    }

    // MARK: Terminals

    @Test("Terminal: one line that holds no control sequence and no workflow command", arguments: seeds)
    func terminal(seed: UInt64) {
        hold(seed) { text in
            let escaped = TerminalText.escaped(text)
            let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && !":[".utf8.contains($0) }
            return isHarmless(escaped) && (!isPlain || isSame(escaped, text))
                && TerminalText.escaped(text, limit: 5).unicodeScalars.count <= 5 * 10 + 1
        }
    }

    @Test("Ordinary text is unchanged")
    func harmless() {
        for text in [
            "w items=10 form=block", "dispatch:function", "priority=high", "größer — 5 %", "👩‍💻 naïve", "a_b[0]",
        ] {
            #expect(TerminalText.escaped(text) == text)
        }
        #expect(MarkdownText.cell("w items_per_operation=10") == "w items_per_operation=10")
        #expect(MarkdownText.cell("a|b") == "a&#124;b")
        #expect(
            TerminalText.escaped("\n::error::x ##[error]\u{9B}1m")
                == "\\n:\\u{3a}error:\\u{3a}x ##\\u{5b}error]\\u{9b}1m")
        // Runners recognise a command only at the beginning of a line.
        #expect(TerminalText.escaped("1 %: swift::f ##[e", keepsScopes: true) == "1 %: swift::f ##\\u{5b}e")
        for blank in ["", "  ", ":"] {
            #expect(!TerminalText.escaped("\(blank)::error::x", keepsScopes: true).hasPrefix("\(blank)::"))
        }
        #expect(CSVText.exported("=1+1") == "'=1+1" && CSVText.exported("a=1") == "a=1")
        #expect(
            WorkflowCommand.line("error", title: "a: b, c", message: "5 %\n") == "::error title=a%3A b%2C c::5 %25%0A\n"
        )
    }

    private func isHarmless(_ text: String, commands: Bool = true) -> Bool {
        !text.unicodeScalars.contains(where: \.isUnprintable)
            && (!commands || !text.utf8.contains("::".utf8) && !text.utf8.contains("##[".utf8))
    }

    // MARK: Combining marks

    @Test("More than 30 combining marks in a row are refused in JSON and CSV, quickly")
    func marks() throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 500_000)
        #expect(refusal { _ = try JSONParser.parse("{\"\(marks)\": 1}", file: "x") }.message.contains("30"))
        var row = SampleRow.blank
        (row.metric, row.notes) = ("time", "a" + String(repeating: "\u{301}", count: 31))
        let csv = refusal { _ = try CSVFile.rows(SampleRow.self, text: CSVFile.text(of: [row]), file: "x") }
        #expect(csv.message.contains("30"))
        row.notes = StreamSafeText.made(of: row.notes)
        #expect(row.notes.unicodeScalars.count == 31)
        #expect(try CSVFile.rows(SampleRow.self, text: CSVFile.text(of: [row]), file: "x") == [row])
    }

    @Test(
        "A valid workload's reason, quoted and with combining marks, reads back from the rows that hold it"
    )
    func reason() throws {
        let reason = "a \"\u{301}quoted\u{301}\", b\r\u{301}"
        var row = SampleRow.blank
        (row.metric, row.notes) = ("time", reason)
        let read = try CSVFile.rows(SampleRow.self, text: CSVFile.text(of: [row]), file: "x")
        #expect(isSame(try #require(read.first).notes, reason))
    }
}
