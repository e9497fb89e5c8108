import ArgumentParser
import OpBenchModel

/// `opbench schema`
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of workload files, or of gate policies.",
        discussion: """
            The schema (2020-12) is made from the definitions that opbench itself checks files by, and published as \
            workloads/schema/workload.schema.json and policy.schema.json. Name it under `$schema` and an editor completes and checks.

            EXAMPLES
              opbench schema
              opbench schema policy > workloads/schema/policy.schema.json
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument { case workload, policy }

    @Argument(help: ArgumentHelp("Which kind of file.", valueName: "kind"))
    var kind = Kind.workload

    func run() throws {
        switch kind {
        case .workload: try StandardOutput.write(JSONSchema.workload())
        case .policy: try StandardOutput.write(JSONSchema.policy())
        }
    }
}
