import ArgumentParser
import Glibc
import OpBenchModel
import OpBenchProfile

/// `opbench init SHAPE [-o FILE]`, `opbench init --from-recording RECORDING [-o FILE]`
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a workload that explains every parameter.",
        discussion: """
            The file is valid and runs as it is: one cell, every parameter at its default, all backends that support \
            the shape. Explanations are members whose names begin with //, which opbench ignores.

            With --from-recording, writes a workload of the shape replay from a recording that a program made with \
            TraceRecorder: times, limits, priorities, dependencies and cancellations, without any name, unless \
            --names keeps those of classes and queues. --from, --to and --queue take a part of it.

            EXAMPLES
              opbench init chain
              opbench init priority_mix -o my-mix.json
              opbench init open_loop -o -
              opbench init --from-recording a.oprec --names -o server.json
              opbench init --from-recording a.oprec --from 30s --to 90s --queue q
            """)

    @Argument(
        help: ArgumentHelp("A shape; `opbench describe` lists them.", valueName: "shape"),
        completion: .list(Shape.allCases.map(\.rawValue)))
    var shape: String?

    @Option(
        name: .customLong("from-recording"),
        help: ArgumentHelp("A program's recording, to be replayed.", valueName: "file"), completion: .file())
    var recording: String?

    @OptionGroup var window: WindowOptions

    @Option(help: ArgumentHelp("Only operations of queues with this name.", valueName: "name"))
    var queue: String?

    @Flag(help: "Keep the names of a recording's classes and queues, as names of its groups.")
    var names = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The file to write, or - for standard output; by default the shape's name with .json, in this folder.",
            valueName: "file"))
    var file: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    func validate() throws {
        if (shape == nil) == (recording == nil) {
            throw ValidationError("Name a shape, or a recording by --from-recording.")
        }
        if recording == nil, names || part != .all {
            throw ValidationError("--names, --from, --to and --queue are for a recording: name it by --from-recording.")
        }
    }

    private var part: RecordingWindow { RecordingWindow(from: window.from, to: window.to, queue: queue) }

    func run() throws {
        let definition = try shape.map(Self.definition) ?? .of(.replay)
        let replayed = try recording.map(replayed)
        let path = file ?? "\(definition.shape.rawValue).json"
        let values: [String: ParameterValue] = replayed.map { ["recording": .recording($0.load)] } ?? [:]
        let template = WorkloadTemplate(
            definition, file: path == "-" ? nil : path, backends: ShapeBackends.able(definition, with: values),
            values: values, notes: replayed?.notes ?? [])
        if path == "-" { return try StandardOutput.write(template.text) }
        try force ? ReportFile.write([(try ReportFile(path), template.text)]) : create(path, template.text)
        let words = ShellWords.ofThisProgram(["run", path])
        StandardError.say("opbench: the workload is in \(path); measure it with: \(words)")
    }

    private static func definition(named name: String) throws(InputError) -> ShapeDefinition {
        guard let shape = Shape(rawValue: name) else {
            throw InputError(
                file: "shape", message: "there is no shape \"\(name)\"",
                remedy: Suggestion.remedy(for: name, among: Shape.allCases.map(\.rawValue), from: "opbench describe"))
        }
        return .of(shape)
    }

    /// Reads the recording, and reports the numbers of its queues and groups.
    private func replayed(_ recording: String) throws -> ReplayedRecording {
        let replayed = try ReplayedRecording(
            Recording.read(recording, window: part), path: recording, keepsNames: names)
        for (number, queue) in replayed.queues.enumerated() {
            let limit = queue.limit.map { "limit \($0)" } ?? "the default limit"
            StandardError.say(
                "opbench: queue \(number) is \"\(queue.name)\": \(counted(queue.operations, "operation")), \(limit)")
        }
        if replayed.groups.count > 1 {
            for (number, group) in replayed.groups.enumerated() {
                StandardError.say(
                    "opbench: group \(number) is \"\(group.name)\": \(counted(group.operations, "operation"))")
            }
        }
        for note in replayed.notes { StandardError.say("opbench: \(note)") }
        return replayed
    }

    private func create(_ path: String, _ text: String) throws {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        do {
            if name.isEmpty || path.hasSuffix("/") { throw DiskError(path: path, code: EISDIR) }
            try WrittenFolder(WrittenFolder.holding(path)).create(name, text)
        } catch let error as DiskError {
            if error.code == EEXIST {
                throw InputError(
                    file: path, message: "the file exists", remedy: "name another file, or use --force")
            }
            throw error.badPath ?? error
        }
    }
}
