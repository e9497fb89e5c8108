import ArgumentParser
import Foundation
import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench runs`
struct RunsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "List runs and baselines, newest first.",
        discussion: """
            Reads each run's description, not its rows. Interrupted runs can continue with --resume. `bad` counts \
            samples that are invalid, crashed or timed out unexpectedly.

            EXAMPLES
              opbench runs
              opbench runs --output /data/results
            """)

    @Option(name: .customLong("output"), help: ArgumentHelp("The folder of runs.", valueName: "dir"))
    var directory = "results"

    func validate() throws { try FolderArgument.check(directory, option: "--output") }

    func run() throws {
        let list = try RunList(in: directory)
        for error in list.unreadable { StandardError.say("opbench: warning: \(error)") }
        try StandardOutput.write(RunListTable.text(of: list.rows, folder: directory))
    }
}

/// The runs of a folder.
struct RunList {
    private(set) var rows: [RunListRow] = []
    /// Errors for runs that cannot be read.
    private(set) var unreadable: [InputError] = []

    /// - Throws: `InputError` if the folder itself cannot be read.
    init(in directory: String) throws(InputError) {
        let names = try Self.names(in: directory, remedy: "name a folder of runs with --output")
        add(names, in: directory, areBaselines: false)
        if names.contains(Self.baselines), let kept = try? WrittenFolder("\(directory)/\(Self.baselines)").names() {
            add(kept, in: "\(directory)/\(Self.baselines)", areBaselines: true)
        }
        rows.sort { ($1.startedUTC, $0.name) < ($0.startedUTC, $1.name) }
    }

    private static let baselines = "baseline"

    private mutating func add(_ names: [String], in directory: String, areBaselines: Bool) {
        for name in names where name != Self.baselines && !WrittenFolder.isTemporary(name) {
            let folder = "\(directory)/\(name)"
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                continue
            }
            do throws(InputError) {
                let files = try Self.names(in: folder, remedy: "make it readable, or move it away")
                guard files.contains(RunFacts.fileName) || files.contains(SampleRow.fileName) else { continue }
                rows.append(try RunFacts.listRow(of: folder, name: name, isBaseline: areBaselines))
            } catch {
                unreadable.append(error)
            }
        }
    }

    private static func names(in folder: String, remedy: String) throws(InputError) -> [String] {
        do throws(DiskError) {
            return try WrittenFolder(folder).names()
        } catch {
            throw InputError(
                file: folder, message: "cannot be read: \(String(cString: strerror(error.code)))", remedy: remedy)
        }
    }
}

/// A list of runs as a table: one line per run or, if that is too wide, the run's name above its fields. So a name is
/// in one piece that can be copied. Hosts are listed once, below.
enum RunListTable {
    static func text(of rows: [RunListRow], folder: String, width: Int? = TableWidth.ofOutput()) -> String {
        if rows.isEmpty { return TerminalText.escaped("no runs in \(folder)") + "\n" }
        let hosts = rows.map(host).uniqued()
        let columns = columns(hosts: hosts)
        var text = Table([Column("run", isText: true, text: name)] + columns, rows).text(width: nil)
        if let width, text.split(separator: "\n").contains(where: { TextWidth.of(String($0)) > width }) {
            text = blocks(rows, columns, width: width)
        }
        let legend = hosts.enumerated().map { index, host in
            let term = hosts.count == 1 ? "all on" : "host \(index + 1):"
            return WrappedText.paragraph(TerminalText.escaped("\(term) \(host)"), width: width, hanging: 2)
        }
        return text + "\n" + legend.joined()
    }

    private typealias Column = Table<RunListRow>.Column

    /// The columns after the name. If the terminal is too narrow, those that other commands show are hidden first.
    private static func columns(hosts: [String]) -> [Column] {
        let columns: [Column] = [
            .init("UTC", isText: true) { date($0.startedUTC) },
            .init("workloads", isText: true, rank: 1) { shortened($0.workloads) },
            .init("cells", rank: 3) { String($0.cells) }, .init("blocks", rank: 2) { String($0.blocks) },
            .init("backends", isText: true, rank: 4) { families($0.backends) },
            .init("state", isText: true, text: state),
            .init("bad") { $0.badSamples.map(String.init) ?? Quantities.absent },
        ]
        guard hosts.count > 1 else { return columns }
        return columns + [.init("host") { String((hosts.firstIndex(of: host(of: $0)) ?? 0) + 1) }]
    }

    private static func blocks(_ rows: [RunListRow], _ columns: [Column], width: Int) -> String {
        let first = Column("run, UTC", isText: true, text: columns[0].text)
        let table = Table([first] + columns.dropFirst(), rows)
        let layout = table.layout(width: width, heading: name)
        guard !layout.hidden.isEmpty else { return layout.text }
        let whole =
            table.layout(width: nil, heading: name).text.split(separator: "\n").map { TextWidth.of($0) }.max() ?? 0
        let hidden = layout.hidden.joined(separator: ", ")
        let note = "hidden (terminal too narrow): \(hidden); with COLUMNS=\(whole) all are shown"
        return layout.text + "\n" + WrappedText.paragraph(note, width: width, hanging: 2)
    }

    private static func name(_ row: RunListRow) -> String { (row.isBaseline ? "baseline/" : "") + row.name }

    /// The time, to the minute.
    private static func date(_ utc: String) -> String {
        utc.prefix(16).split(separator: "T").joined(separator: " ")
    }

    /// Some names, and the number of others.
    private static func shortened(_ names: String) -> String {
        let names = names.split(separator: " ")
        return names.count <= 3 ? names.joined(separator: " ") : "\(names[0]) and \(names.count - 1) more"
    }

    /// Backends, each with the number of its other forms: `engine dispatch+2`.
    private static func families(_ backends: String) -> String {
        let families = backends.split(separator: " ").map { $0.prefix { $0 != ":" } }
        return families.uniqued().map { family in
            let forms = families.count { $0 == family } - 1
            return forms == 0 ? String(family) : "\(family)+\(forms)"
        }.joined(separator: " ")
    }

    private static func state(_ row: RunListRow) -> String {
        row.state == .finished ? row.state.rawValue : "\(row.state.rawValue), \(row.samples) of \(row.plannedSamples)"
    }

    private static func host(of row: RunListRow) -> String { row.host.summary }
}
