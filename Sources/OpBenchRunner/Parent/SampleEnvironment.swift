import Foundation

/// The variables of the environment that change what a process costs, whatever program it is. Through them the loader
/// takes other libraries, and allocators, Dispatch and Swift's runtime work differently.
///
/// Samples get them as opbench has them, and `run.json` records them. The exception is jemalloc's variable, which
/// samples never get.
public enum SampleEnvironment {
    /// jemalloc's options. One of them makes jemalloc profile every allocation. Samples have options of their own, or
    /// none.
    static let allocatorOptions = "MALLOC_CONF"

    private static let prefixes = [
        "LD_", "GLIBC_TUNABLES", "MALLOC_", "MIMALLOC_", "TCMALLOC_", "DISPATCH_", "LIBDISPATCH_", "SWIFT_DEBUG_",
        "SWIFT_DETERMINISTIC_HASHING",
    ]

    /// The variables that are set and not empty.
    static func found(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String: String] {
        environment.filter { name, value in !value.isEmpty && prefixes.contains { name.hasPrefix($0) } }
    }

    /// The variables on one line, sorted by name.
    static func words(_ variables: [String: String]) -> String {
        variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    /// Warnings about the variables that samples do not get.
    public static var warnings: [String] { warnings(on: found()) }

    static func warnings(on variables: [String: String]) -> [String] {
        guard let options = variables[allocatorOptions] else { return [] }
        return ["\(allocatorOptions)=\(options) is kept from the samples: it would change their figures"]
    }
}
