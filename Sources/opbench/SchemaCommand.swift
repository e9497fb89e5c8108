import ArgumentParser
import OpBenchModel

/// `opbench schema`
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of workload files.",
        discussion: """
            The schema (2020-12) is made from the definitions that opbench itself checks files by, and published as \
            workloads/schema/workload.schema.json. Name it under `$schema` and an editor completes and checks.

            EXAMPLES
              opbench schema
              opbench schema > workloads/schema/workload.schema.json
            """)

    func run() throws {
        try StandardOutput.write(JSONSchema.workload())
    }
}
