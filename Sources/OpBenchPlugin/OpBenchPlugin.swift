import Foundation
import PackagePlugin

/// `swift package opbench ARGUMENT…` in a package with a benchmark program: builds that for release and runs it with the
/// arguments, in the caller's folder. In a package without one, `swift package opbench init` adds one.
///
/// The benchmark program is the executable target that depends on the product OpBenchKit. If there are several, the
/// first argument names one: `swift package opbench --program NAME …`.
@main
struct OpBenchPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        var arguments = arguments
        var name: String?
        if arguments.first == "--program" {
            guard arguments.count > 1 else { fail("--program needs the name of a target") }
            name = arguments[1]
            arguments.removeFirst(2)
        }
        let programs = context.package.targets.compactMap { $0 as? SwiftSourceModuleTarget }
            .filter { $0.kind == .executable && Self.usesKit($0) }.map(\.name)
        if programs.isEmpty, arguments.first == "init" { return try addProgram(to: context.package) }
        try run(program(named: name, of: programs), arguments)
    }

    private static func usesKit(_ target: some Target) -> Bool {
        target.dependencies.contains { dependency in
            if case .product(let product) = dependency { product.name == "OpBenchKit" } else { false }
        }
    }

    private func program(named name: String?, of programs: [String]) -> String {
        if let name {
            if programs.contains(name) { return name }
            fail("\(name) is no executable target that depends on OpBenchKit; there are: \(list(programs))")
        }
        guard let first = programs.first else {
            fail("no executable target depends on OpBenchKit; `swift package opbench init` adds one")
        }
        guard programs.count == 1 else {
            fail("several targets depend on OpBenchKit; name one by --program NAME: \(list(programs))")
        }
        return first
    }

    private func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    private func run(_ program: String, _ arguments: [String]) throws {
        // SwiftPM prints this to standard error at once, but nothing of the build until that has ended.
        Diagnostics.progress("building \(program) for release, the first time for minutes")
        let built = try packageManager.build(
            .product(program), parameters: .init(configuration: .release, logging: .concise))
        guard built.succeeded,
            let path = built.builtArtifacts.first(where: { $0.url.lastPathComponent == program })
        else {
            fail("\(program) does not build:\n\(built.logText)", status: 1)
        }
        let process = Process()
        process.executableURL = path.url
        process.arguments = arguments
        // Ctrl-C goes to the whole group of processes; the program ends in its own way.
        signal(SIGINT, SIG_IGN)
        try process.run()
        process.waitUntilExit()
        exit(process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus)
    }

    // MARK: A new program

    private func addProgram(to package: Package) throws {
        let folder = package.directoryURL.appending(component: "Benchmarks")
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            fail("there is a folder Benchmarks already; move it, or add a target with OpBenchKit by hand")
        }
        let manifest = package.directoryURL.appending(component: "Package.swift")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        guard text.contains("let package = Package(") else {
            fail("Package.swift has no `let package`; add a target with OpBenchKit by hand")
        }
        let opbench = package.dependencies.map(\.package.id).first { $0 == "opbench" } ?? "opbench"
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Self.source.write(to: folder.appending(component: "main.swift"), atomically: true, encoding: .utf8)
        try Self.workload.write(to: folder.appending(component: "first.json"), atomically: true, encoding: .utf8)
        let target = """

            // Measures queues: swift package opbench run Benchmarks/*.json
            package.targets.append(
                .executableTarget(
                    name: "benchmarks", dependencies: [.product(name: "OpBenchKit", package: "\(opbench)")],
                    path: "Benchmarks", exclude: ["first.json"]))

            """
        try (text + target).write(to: manifest, atomically: true, encoding: .utf8)
        print("Package.swift has a new target, benchmarks. Put your queue into Benchmarks/main.swift, and measure it:")
        print("    swift package opbench run Benchmarks/*.json")
    }

    private static let source = """
        import Dispatch
        import OpBenchKit

        /// The queue to measure; put yours in its place.
        final class MyQueue: MeasuredQueue {
            private let queue = DispatchQueue(label: "mine", attributes: .concurrent)

            func submit(_ work: @escaping Work) { queue.async(execute: work) }
        }

        OpBenchMain.run(backends: [Backend("mine", "My queue.") { _ in MyQueue() }])

        """

    private static let workload = """
        {
          "name": "first", "summary": "A microsecond of work per operation.", "shape": "independent",
          "parameters": { "items": 20000, "work_ns": 1000 },
          "backends": ["mine", "engine", "dispatch"]
        }

        """
}

/// Ends with a message on standard error; by default with the exit code for bad usage, sysexits(3).
private func fail(_ message: String, status: Int32 = 64) -> Never {
    FileHandle.standardError.write(Data("opbench: \(message)\n".utf8))
    exit(status)
}
