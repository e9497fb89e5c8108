import ArgumentParser
import Glibc
import OpBenchModel

/// `opbench init SHAPE [-o FILE]`
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a workload that explains every parameter.",
        discussion: """
            The file is valid and runs as it is: one cell, every parameter at its default, all backends that support \
            the shape. Explanations are members whose names begin with //, which opbench ignores.

            EXAMPLES
              opbench init chain
              opbench init priority_mix -o my-mix.json
              opbench init open_loop -o -
            """)

    @Argument(
        help: ArgumentHelp("A shape; `opbench shapes` lists them.", valueName: "shape"),
        completion: .list(Shape.allCases.map(\.rawValue)))
    var shape: String

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The file to write, or - for standard output; by default the shape's name with .json, in this folder.",
            valueName: "file"))
    var file: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    func run() throws {
        let definition = try ShapesCommand.definition(named: shape)
        let path = file ?? "\(shape).json"
        let template = WorkloadTemplate(
            definition, file: path == "-" ? nil : path, backends: ShapeBackends.able(definition))
        if path == "-" { return try StandardOutput.write(template.text) }
        try force ? ReportFile.write([(try ReportFile(path), template.text)]) : create(path, template.text)
        let words = ShellWords.ofThisProgram(["run", path])
        StandardError.say("opbench: the workload is in \(path); measure it with: \(words)")
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
