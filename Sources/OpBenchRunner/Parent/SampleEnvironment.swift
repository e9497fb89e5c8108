import Foundation

/// The variables of the environment that change what a process costs, whatever program it is: by them the loader takes
/// other libraries, and allocators, Dispatch and Swift's runtime work in another way.
///
/// Samples have them as opbench has them, and `run.json` records them; but for jemalloc's, which samples never have.
public enum SampleEnvironment {
    /// jemalloc's options: by a word in it every allocation is profiled. Samples have their own in its place, or none.
    static let allocatorOptions = "MALLOC_CONF"

    private static let prefixes = [
        "LD_", "GLIBC_TUNABLES", "MALLOC_", "MIMALLOC_", "TCMALLOC_", "DISPATCH_", "LIBDISPATCH_", "SWIFT_DEBUG_",
        "SWIFT_DETERMINISTIC_HASHING",
    ]

    /// Those that are set and not empty.
    static func found(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String: String] {
        environment.filter { name, value in !value.isEmpty && prefixes.contains { name.hasPrefix($0) } }
    }

    /// On a line, by name.
    static func words(_ variables: [String: String]) -> String {
        variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    /// What samples do not have of it.
    public static var warnings: [String] { warnings(on: found()) }

    static func warnings(on variables: [String: String]) -> [String] {
        guard let options = variables[allocatorOptions] else { return [] }
        return ["\(allocatorOptions)=\(options) is kept from the samples: it would change their figures"]
    }
}
