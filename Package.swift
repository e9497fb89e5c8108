// swift-tools-version: 6.2
import PackageDescription

// The engine is a separate product that depends only on the C shim over Linux system calls. Everything named OpBench…
// is the benchmark suite. Modules may import only what the `dependencies:` lists below allow; CI checks that by
// building with `--explicit-target-dependency-import-check error`.

/// The trait `Suite` (on by default) guards every reference to the packages that the benchmark suite and its tests
/// need, so that a program with `traits: []` fetches only the engine. Every reference to one package is guarded alike:
/// SwiftPM may drop a package that is guarded differently in two places (swiftlang/swift-package-manager#8398). In this
/// folder, SwiftPM checks out what `Package.resolved` lists, whatever the traits; a client's file lists what the client
/// needs.
///
/// No other trait is on by default, and nothing in this folder is built with two: SwiftPM passes traits to the compiler
/// in an order that varies between plans, so a second one would make every other plan recompile the whole package.
let whenSuite = TargetDependencyCondition.when(traits: ["Suite"])

/// The trait `Metrics` guards the one reference to swift-metrics in the same way. Without it OperationEngineMetrics is
/// an empty module. scripts/tests/test_client.py builds it with the trait.
let whenMetrics = TargetDependencyCondition.when(traits: ["Metrics"])

/// Whether jemalloc is linked into `opbench`, where it replaces malloc and reports the memory figures. A program of
/// OpBenchKit links it by itself, or is run with it preloaded: see Sources/CLinuxMeasure/Jemalloc.c.
let allocator: [LinkerSetting] =
    Context.environment["OPBENCH_ALLOCATOR"] == "system" ? [] : [.linkedLibrary("jemalloc")]

/// Whether `opbench` has the backend `tbb`, which needs oneTBB (libtbb-dev). Only for comparison: see scripts/peers.
let hasPeers = Context.environment["OPBENCH_PEERS"] == "1"

/// Whether to build with the exact versions that the suite was checked with, as the scripts do. Otherwise a program
/// that uses the package chooses versions within the ranges.
let takesExactVersions = Context.environment["OPBENCH_EXACT_VERSIONS"] != nil

/// The commit of the sources, ending in `-dirty` if they differ from it, for `opbench --version` and `run.json`. The
/// caller of the build sets it, because SwiftPM's own information on the repository may be from an earlier commit.
let commit = Context.environment["OPBENCH_COMMIT"].flatMap { text in
    text.isEmpty || !text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } ? nil : text
}

#if os(macOS)
    let host = "apple"
#else
    let host = "linux"
#endif
/// The platform that the engine's products are built for, `linux` or `apple`. A manifest sees only the machine that builds:
/// on a Mac that builds for Linux, the variable has to say so.
let chosenPlatform = Context.environment["OPERATION_ENGINE_PLATFORM"]

/// Another package: `version` or later, before the next version that semantic versioning allows to be
/// incompatible.
func otherPackage(_ url: String, _ version: Version) -> Package.Dependency {
    if takesExactVersions { return .package(url: url, exact: version) }
    let next = version.major == 0 ? Version(0, version.minor + 1, 0) : Version(version.major + 1, 0, 0)
    return .package(url: url, version..<next)
}

/// The programs of the example package recorded-programs.
let recordedPrograms = ["thumbnail-server", "shop", "image-pipeline", "downloader"]

let package = Package(
    name: "opbench",
    products: [
        .library(name: "OperationEngine", targets: ["OperationEngine"]),
        .library(name: "OperationEngineProgress", targets: ["OperationEngineProgress"]),
        .library(name: "OperationEngineFoundation", targets: ["OperationEngineFoundation"]),
        .library(name: "OperationEngineRecorder", targets: ["OperationEngineRecorder"]),
        .library(name: "OperationEngineMetrics", targets: ["OperationEngineMetrics"]),
        // Declares custom queues, which are measured like the built-in backends.
        .library(name: "OpBenchKit", targets: ["OpBenchKit"]),
        .executable(name: "opbench", targets: ["opbench"]),
        // `swift package opbench` in a package with a program of OpBenchKit.
        .plugin(name: "OpBenchPlugin", targets: ["OpBenchPlugin"]),
    ],
    traits: [
        .trait(name: "Suite", description: "Fetch the dependencies of the benchmark suite; the engine has none."),
        .trait(name: "Metrics", description: "Fetch swift-metrics, for the product OperationEngineMetrics."),
        .default(enabledTraits: ["Suite"]),
    ],
    dependencies: [
        otherPackage("https://github.com/apple/swift-argument-parser", "1.8.2"),
        otherPackage("https://github.com/HdrHistogram/hdrhistogram-swift", "0.2.0"),
        otherPackage("https://github.com/apple/swift-metrics", "2.13.0"),
    ],
    targets: [
        .target(name: "CLinux"),
        // System calls for measuring, including a stack walker in a signal handler; not part of the engine.
        .target(name: "CLinuxMeasure"),
        .target(name: "OperationEngine", dependencies: ["CLinux"]),
        // `OperationQueue.progress`, for which the engine would have to import Foundation.
        .target(name: "OperationEngineProgress", dependencies: ["OperationEngine"]),
        // The engine's queues for Foundation APIs that require one; needs FoundationNetworking.
        .target(name: "OperationEngineFoundation", dependencies: ["OperationEngine"]),
        // The format of a program's recording: layouts alone.
        .target(name: "CRecording"),
        // Records what a program's queues do, for `opbench trace`.
        .target(name: "OperationEngineRecorder", dependencies: ["OperationEngine", "CLinux", "CRecording"]),
        // Statistics of operations; with the trait, publishes the counts of queues to swift-metrics.
        .target(
            name: "OperationEngineMetrics",
            dependencies: [
                "OperationEngine", .product(name: "CoreMetrics", package: "swift-metrics", condition: whenMetrics),
            ]),
        .target(name: "CBuild"),
        .target(name: "CBuildCommit", cSettings: commit.map { [.define("OPBENCH_COMMIT", to: "\"\($0)\"")] } ?? []),
        .target(name: "OpBenchModel"),
        // Starts other programs and waits for them.
        .target(name: "OpBenchLaunch", dependencies: ["OpBenchModel", "CLinuxMeasure"]),
        // The protocol of backends, their common code, and all backends.
        .target(
            name: "OpBenchBackends", dependencies: ["OpBenchModel", "OperationEngine", "CLinux", "CLinuxMeasure"]),
        .target(
            name: "OpBenchRunner",
            dependencies: [
                "OpBenchModel", "OpBenchLaunch", "OpBenchProfile", "OpBenchBackends", "OperationEngine", "CLinux",
                "CLinuxMeasure", "CBuild",
                .product(name: "Histogram", package: "hdrhistogram-swift", condition: whenSuite),
            ]),
        .target(name: "OpBenchAnalysis", dependencies: ["OpBenchModel"]),
        // The model of a profile, computations on it, and the files that show it; starts and measures nothing.
        .target(name: "OpBenchProfile", dependencies: ["OpBenchModel", "CRecording"]),
        // The contents of the page's files: see Sources/CPage/CPage.c.
        .target(name: "CPage"),
        // The page of `opbench report`.
        .target(
            name: "OpBenchPage", dependencies: ["OpBenchModel", "OpBenchAnalysis", "OpBenchHistory", "CPage"],
            exclude: ["Page", "Vendor"]),
        // The figures of many runs in one file, and their changes.
        .target(name: "OpBenchHistory", dependencies: ["OpBenchModel", "OpBenchLaunch", "OpBenchAnalysis"]),
        // The command line, for programs with one.
        .target(
            name: "OpBenchCommand",
            dependencies: [
                "OpBenchModel", "OpBenchRunner", "OpBenchAnalysis", "OpBenchHistory", "OpBenchProfile", "OpBenchPage",
                "CLinuxMeasure",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: whenSuite),
            ]),
        .target(
            name: "OpBenchKit",
            dependencies: [
                "OpBenchCommand", "OpBenchRunner", "OpBenchBackends", "OpBenchModel", "CLinux", "CBuildCommit",
            ]),
        .executableTarget(
            name: "opbench", dependencies: ["OpBenchCommand", "CBuildCommit"], linkerSettings: allocator),
        .plugin(
            name: "OpBenchPlugin",
            capability: .command(
                intent: .custom(verb: "opbench", description: "Measure queues with the package's benchmark program.")),
            path: "Sources/OpBenchPlugin"),
        .target(
            name: "TestSupport", dependencies: ["OperationEngine", "CLinux", "CRecording"], path: "Tests/TestSupport"),
        // Scenarios that need a separate process, run by the engine's tests.
        .executableTarget(
            name: "EngineProcess",
            dependencies: ["OperationEngine", "OperationEngineRecorder", "CLinux", "CLinuxMeasure"],
            path: "Tests/EngineProcess"),
        .target(
            name: "EngineStressScenarios", dependencies: ["OperationEngine", "TestSupport"],
            path: "Tests/EngineStressScenarios"),
        .executableTarget(
            name: "EngineStress", dependencies: ["EngineStressScenarios", "TestSupport"], path: "Tests/EngineStress"),
        // Counts the allocations and instructions of operations, for scripts/engine-costs, with its own malloc.
        .target(name: "CountedMalloc", path: "Tests/CountedMalloc"),
        .executableTarget(
            name: "EngineCosts", dependencies: ["OperationEngine", "CountedMalloc"], path: "Tests/EngineCosts",
            exclude: ["expected.json"]),
        .testTarget(
            name: "OperationEngineTests",
            dependencies: [
                "OperationEngine", "OperationEngineProgress", "OperationEngineRecorder", "OperationEngineMetrics",
                "EngineProcess", "EngineStressScenarios", "TestSupport",
            ]),
        // Programs that are recorded, and read back.
        .testTarget(
            name: "OperationEngineRecorderTests",
            dependencies: [
                "OperationEngine", "OperationEngineRecorder", "OpBenchProfile", "EngineProcess", "TestSupport",
            ]),
        // The engine's sources again, with a scheduler that chooses the next thread at every atomic access; see
        // Replacements.swift there.
        .target(name: "Interleaving", dependencies: ["CLinux"], path: "Tests/Interleaving"),
        .target(name: "ExploredFutex", dependencies: ["Interleaving", "CLinux"], path: "Tests/ExploredFutex"),
        .executableTarget(
            name: "explore", dependencies: ["Interleaving", "ExploredFutex", "CLinux"], path: "Tests/ExploredEngine",
            exclude: [
                "Futex/FutexLock.swift", "Futex/Futex.swift", "Workers/BriefSpin.swift", "Workers/CPUQuota.swift",
                "Workers/Processors.swift", "Queue/Snapshot/QueueRegister.swift",
            ].map { "Engine/\($0)" }),
        .testTarget(name: "ExplorerTests", dependencies: ["explore", "Interleaving", "TestSupport"]),
        // One program, written for Foundation, three times: migrated by scoped imports, migrated by one file of names,
        // and unchanged (in the oracle tests).
        .testTarget(
            name: "MigrationTests",
            dependencies: ["OperationEngine", "OperationEngineProgress", "OperationEngineFoundation", "TestSupport"],
            swiftSettings: [.define("SCOPED_IMPORTS")]),
        .testTarget(
            name: "MigrationByAliasTests",
            dependencies: ["OperationEngine", "OperationEngineProgress", "OperationEngineFoundation", "TestSupport"]),
        .testTarget(
            name: "FoundationOracleTests", dependencies: ["TestSupport"], swiftSettings: [.define("ORACLE")]),
        .testTarget(
            name: "OpBenchModelTests", dependencies: ["OpBenchModel", "TestSupport"],
            exclude: ["Workloads", "schema_verdicts.py"]),
        .testTarget(name: "OpBenchLaunchTests", dependencies: ["OpBenchLaunch", "TestSupport", "CLinuxMeasure"]),
        .testTarget(
            name: "OpBenchRunnerTests",
            dependencies: [
                "OpBenchRunner", "OpBenchBackends", "OpBenchModel", "OpBenchLaunch", "OpBenchProfile", "TestSupport",
                "CLinux", "CLinuxMeasure",
            ],
            exclude: ["child"]),
        .testTarget(
            name: "OpBenchPageTests",
            dependencies: ["OpBenchPage", "OpBenchAnalysis", "OpBenchHistory", "OpBenchModel", "TestSupport"]),
        .testTarget(name: "OpBenchAnalysisTests", dependencies: ["OpBenchAnalysis", "OpBenchModel"]),
        .testTarget(
            name: "OpBenchHistoryTests",
            dependencies: ["OpBenchHistory", "OpBenchAnalysis", "OpBenchModel", "TestSupport"]),
        .testTarget(
            name: "OpBenchProfileTests",
            dependencies: ["OpBenchProfile", "OpBenchAnalysis", "OpBenchModel", "TestSupport", "CRecording"]),
        // Properties that readers of files guarantee for any bytes, checked for the inputs in Corpus; scripts/fuzz
        // searches for more.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "OpBenchModel", "OpBenchRunner", "OpBenchAnalysis", "OpBenchHistory", "OpBenchProfile", "TestSupport",
                "CRecording",
            ],
            exclude: ["Corpus"]),
        // The programs of example packages, from the same sources.
        .executableTarget(
            name: "pthread-queue", dependencies: ["OpBenchKit"],
            path: "Tests/Examples/pthread-queue/Sources/pthread-queue", linkerSettings: allocator),
        .target(name: "ProgramParts", path: "Tests/Examples/recorded-programs/Sources/ProgramParts"),
        .testTarget(
            name: "OpBenchKitTests",
            dependencies: [
                "OpBenchKit", "OpBenchRunner", "OpBenchBackends", "OpBenchModel", "OperationEngine", "TestSupport",
            ]),
        .testTarget(
            name: "OpBenchCommandTests",
            dependencies: [
                "opbench", "pthread-queue", "OpBenchCommand", "OpBenchModel", "OpBenchLaunch", "OpBenchProfile",
                "OpBenchHistory", "OpBenchRunner", "OpBenchAnalysis", "TestSupport", "CLinux", "CRecording",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: whenSuite),
            ] + recordedPrograms.map { .byName(name: $0) }),
    ],
    swiftLanguageModes: [.v6]
)

for name in recordedPrograms {
    package.targets.append(
        .executableTarget(
            name: name, dependencies: ["ProgramParts", "OperationEngine", "OperationEngineRecorder"],
            path: "Tests/Examples/recorded-programs/Sources/\(name)"))
}

if hasPeers {
    package.targets.append(.target(name: "COneTBB", linkerSettings: [.linkedLibrary("tbb")]))
    let backends = package.targets.first { $0.name == "OpBenchBackends" }
    backends?.dependencies.append("COneTBB")
    backends?.swiftSettings = [.define("PEERS")]
}

// For Apple's platforms the engine's modules are names of Foundation's classes. What else is here is for Linux alone.
if (chosenPlatform ?? host) == "apple" {
    for target in package.targets
    where ["OperationEngine", "OperationEngineProgress", "OperationEngineFoundation"].contains(target.name) {
        target.path = "Sources/ApplePlatforms/\(target.name)"
        target.dependencies = []
        target.swiftSettings = chosenPlatform == nil ? [] : [.define("PLATFORM_IS_CHOSEN")]
    }
}

// Only the engine, its tests and tools, without dependencies of the benchmark suite and the comparisons: for
// scripts/engine-costs, and for scripts/mutate, which builds all existing tests. Traits omit dependencies, but no
// targets. The values `tests`, `memory` and `races` also omit the explorer and the tools.
if let extent = Context.environment["OPBENCH_ENGINE_ONLY"] {
    package.dependencies = []
    let products = ["opbench", "OpBenchKit", "OpBenchPlugin", "OperationEngineMetrics"]
    package.products.removeAll { products.contains($0.name) }
    let others = [
        "opbench", "OpBench", "Fuzz", "CBuild", "COneTBB", "CPage", "Foundation", "Migration",
        "pthread-queue", "ProgramParts", "OperationEngineRecorderTests",
    ]
    package.targets.removeAll { target in (others + recordedPrograms).contains { target.name.hasPrefix($0) } }
    package.targets.first { $0.name == "OperationEngineMetrics" }?.dependencies = ["OperationEngine"]
    // Tests in which a sanitizer finds nothing new: a state machine on one thread, traps, examples; for races also cycles, and
    // tests of calls by one thread: random programs make the same calls from many threads.
    let quiet = ["QueueState", "Conformance/Misuse", "Examples"]
    let ofOneThread = [
        "Barrier", "BlockOperation", "Cancellation", "CompletionBlock", "Dependency", "Limit", "ManualStart",
        "Ownership", "Priority", "Progress", "Queue", "State", "Target", "Waiting",
    ].map { "Conformance/Shared/\($0)Tests.swift" }
    let leftOut = ["tests": [], "memory": quiet, "races": quiet + ["Conformance/Cycles"] + ofOneThread]
    if let folders = leftOut[extent] {
        let tools = ["Interleaving", "explore", "Explore", "EngineCosts", "CountedMalloc"]
        package.targets.removeAll { target in
            tools.contains { target.name.hasPrefix($0) } || target.name == "EngineStress"
        }
        package.targets.first { $0.name == "OperationEngineTests" }?.exclude += folders
    }
}

// The scripts build without optimization what neither executes, times, reads nor analyses samples: a first build takes less
// time. A package that depends on this one never sees the flag.
if takesExactVersions {
    let plain = ["OpBenchCommand", "OpBenchPage", "OpBenchHistory", "OpBenchLaunch"]
    for target in package.targets where plain.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"], .when(configuration: .release))]
    }
}

// The same readers under libFuzzer, for scripts/fuzz. The value is the path of libFuzzer's runtime without its `main`,
// which is part of the toolchain; only these modules are instrumented to guide the search.
if let runtime = Context.environment["OPBENCH_FUZZER"] {
    let read = ["OpBenchModel", "OpBenchAnalysis", "OpBenchRunner", "OpBenchHistory", "OpBenchProfile"]
    for target in package.targets where read.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"])]
    }
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: (read + ["CRecording"]).map { .byName(name: $0) },
            path: "Tests/FuzzDriver", linkerSettings: [.unsafeFlags([runtime]), .linkedLibrary("stdc++")]))
}

// Also a dependency of hdrhistogram-swift. SwiftPM warns about a package that no target names.
if takesExactVersions, !package.dependencies.isEmpty {
    package.dependencies.append(otherPackage("https://github.com/apple/swift-numerics", "1.1.1"))
    package.targets.first { $0.name == "OpBenchRunner" }?.dependencies.append(
        .product(name: "Numerics", package: "swift-numerics", condition: whenSuite))
}

// Warnings in our own code are errors in debug builds if scripts/test requests it, but never in a program that uses the
// package: SwiftPM drops the setting from remote packages, and for a C target leaves a lone `-Xcc`, which consumes the
// next argument.
if Context.environment["OPBENCH_WARNINGS_AS_ERRORS"] != nil {
    for target in package.targets where target.type != .system && target.type != .plugin {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error, .when(configuration: .debug))]
        target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error, .when(configuration: .debug))]
    }
}
