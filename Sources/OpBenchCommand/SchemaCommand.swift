import ArgumentParser
import OpBenchModel

/// `opbench schema`
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of workloads or policies.",
        discussion: """
            The schema (2020-12) is generated from the definitions that opbench uses to check files, and published as \
            workloads/schema/workload.schema.json and policy.schema.json. Set `$schema` to it, and an editor completes \
            and checks.

            EXAMPLES
              opbench schema
              opbench schema policy > workloads/schema/policy.schema.json
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument { case workload, policy }

    @Argument(help: ArgumentHelp("The kind of file.", valueName: "kind"))
    var kind = Kind.workload

    func run() throws {
        switch kind {
        case .workload: try StandardOutput.write(WorkloadSpec.schema())
        case .policy: try StandardOutput.write(GatePolicy.schema())
        }
    }
}
