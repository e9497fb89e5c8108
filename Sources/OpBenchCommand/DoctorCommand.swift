import ArgumentParser
import OpBenchRunner

/// `opbench doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine this machine: what disturbs figures, and how to fix it.",
        discussion: """
            Examines processors, quotas, clock rates, the hypervisor, other processes, clocks and timers, memory, the \
            allocator and rights, and changes nothing. Exits 0 whatever it finds.

            EXAMPLES
              opbench doctor
              opbench doctor --watch 10
              opbench doctor --format json
            """)

    @Option(
        help: ArgumentHelp("How long to watch what else uses the machine, at most 600 seconds.", valueName: "seconds")
    )
    var watch: Double = 1

    @Option(help: ArgumentHelp("How to print the findings.", valueName: "format"))
    var format = FindingFormat.table

    func validate() throws {
        guard watch > 0, watch <= 600 else {
            throw ValidationError("--watch is \(watch); allowed are more than 0 and at most 600 seconds.")
        }
    }

    func run() throws { try StandardOutput.write(format.text(of: Doctor.examine(watchSeconds: watch))) }
}
