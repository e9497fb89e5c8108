// swift-tools-version: 6.2
import PackageDescription

// The engine is a product of its own and depends on nothing but the C shim over Linux system calls.
// Everything named OpBench… is the benchmark suite; the arrows of the README's picture are the
// `dependencies:` lists below, and CI builds with `--explicit-target-dependency-import-check error`.

/// The trait `Suite` (on by default) guards every reference to the packages that the benchmark suite and its tests need,
/// so that a program with `traits: []` fetches the engine alone. One trait a condition: SwiftPM may drop a package that
/// is guarded in one place and not, or otherwise, in another (swiftlang/swift-package-manager#8398). In this folder SwiftPM
/// checks out what `Package.resolved` lists, whatever the traits; a client's lists what the client needs.
///
/// The only trait: SwiftPM passes traits to the compiler in an order that differs from plan to plan, so that a second one
/// makes every other plan compile the whole package again.
let whenSuite = TargetDependencyCondition.when(traits: ["Suite"])

/// Whether jemalloc is linked into `opbench`, where it replaces malloc and reports the memory figures.
let usesJemalloc = Context.environment["OPBENCH_ALLOCATOR"] != "system"

/// Whether to build with the very versions that the suite was checked with; the scripts ask for it. Else a program that
/// uses the package decides, within the ranges.
let takesExactVersions = Context.environment["OPBENCH_EXACT_VERSIONS"] != nil

/// The commit of the sources, ending in `-dirty` if they differ from it, for `opbench --version` and `run.json`. Whoever builds
/// tells: what SwiftPM itself knows of the repository it may have kept from an earlier commit.
let commit = Context.environment["OPBENCH_COMMIT"].flatMap { text in
    text.isEmpty || !text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } ? nil : text
}

/// A package of the suite, from `version` on, up to the next that may break it by the rules of semantic versioning.
func suitePackage(_ url: String, _ version: Version) -> Package.Dependency {
    if takesExactVersions { return .package(url: url, exact: version) }
    let next = version.major == 0 ? Version(0, version.minor + 1, 0) : Version(version.major + 1, 0, 0)
    return .package(url: url, version..<next)
}

let package = Package(
    name: "opbench",
    products: [
        .library(name: "OperationEngine", targets: ["OperationEngine"]),
        .library(name: "OperationEngineProgress", targets: ["OperationEngineProgress"]),
        .library(name: "OperationEngineFoundation", targets: ["OperationEngineFoundation"]),
        // What a program declares a queue of its own with, to be measured as the built-in backends are.
        .library(name: "OpBenchKit", targets: ["OpBenchKit"]),
        .executable(name: "opbench", targets: ["opbench"]),
    ],
    traits: [
        .trait(name: "Suite", description: "Fetch what the benchmark suite needs; the engine needs nothing."),
        .default(enabledTraits: ["Suite"]),
    ],
    dependencies: [
        suitePackage("https://github.com/apple/swift-argument-parser", "1.8.2"),
        suitePackage("https://github.com/groue/GRDB.swift", "7.10.0"),
        suitePackage("https://github.com/HdrHistogram/hdrhistogram-swift", "0.2.0"),
    ],
    targets: [
        .target(name: "CLinux"),
        // What measuring needs of Linux, a stack walker in a signal handler among it; no part of the engine.
        .target(name: "CLinuxMeasure"),
        .systemLibrary(name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
        .target(name: "OperationEngine", dependencies: ["CLinux"]),
        // `OperationQueue.progress`, for which the engine would have to import Foundation.
        .target(name: "OperationEngineProgress", dependencies: ["OperationEngine"]),
        // The engine's queues where Foundation's calls ask for one; needs FoundationNetworking.
        .target(name: "OperationEngineFoundation", dependencies: ["OperationEngine"]),
        .target(name: "CBuild"),
        .target(name: "CBuildCommit", cSettings: commit.map { [.define("OPBENCH_COMMIT", to: "\"\($0)\"")] } ?? []),
        .target(name: "OpBenchModel"),
        // Other programs, started and waited for.
        .target(name: "OpBenchLaunch", dependencies: ["OpBenchModel", "CLinuxMeasure"]),
        // What a backend is, and all backends.
        .target(
            name: "OpBenchBackends", dependencies: ["OpBenchModel", "OperationEngine", "CLinux", "CLinuxMeasure"]),
        .target(
            name: "OpBenchRunner",
            dependencies: [
                "OpBenchModel", "OpBenchLaunch", "OpBenchProfile", "OpBenchBackends", "CLinux", "CLinuxMeasure",
                "CBuild",
                .product(name: "Histogram", package: "hdrhistogram-swift", condition: whenSuite),
            ] + (usesJemalloc ? ["CJemalloc"] : []),
            swiftSettings: usesJemalloc ? [.define("JEMALLOC")] : []),
        .target(name: "OpBenchAnalysis", dependencies: ["OpBenchModel"]),
        // What a profile is, what is computed from it, and the files that show it; starts nothing and measures nothing.
        .target(name: "OpBenchProfile", dependencies: ["OpBenchModel"]),
        // The bytes of the page's files: see Sources/CPage/CPage.c.
        .target(name: "CPage"),
        // The page that `opbench report` writes.
        .target(
            name: "OpBenchPage", dependencies: ["OpBenchModel", "OpBenchAnalysis", "CPage"],
            exclude: ["Page", "Vendor"]),
        // The figures of many runs in one file of SQLite's (libsqlite3-dev), and how they changed.
        .target(
            name: "OpBenchHistory",
            dependencies: [
                "OpBenchModel", "OpBenchLaunch", "OpBenchAnalysis",
                .product(name: "GRDB", package: "GRDB.swift", condition: whenSuite),
            ]),
        // The command line, for the programs that have it.
        .target(
            name: "OpBenchCommand",
            dependencies: [
                "OpBenchModel", "OpBenchRunner", "OpBenchAnalysis", "OpBenchProfile", "OpBenchPage", "OpBenchHistory",
                "CLinuxMeasure",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: whenSuite),
            ]),
        .target(
            name: "OpBenchKit",
            dependencies: [
                "OpBenchCommand", "OpBenchRunner", "OpBenchBackends", "OpBenchModel", "CLinux", "CBuildCommit",
            ]),
        .executableTarget(name: "opbench", dependencies: ["OpBenchCommand", "CBuildCommit"]),
        .target(name: "TestSupport", dependencies: ["OperationEngine", "CLinux"], path: "Tests/TestSupport"),
        // Scenarios that need a process of their own; the engine's tests run it.
        .executableTarget(
            name: "EngineProcess", dependencies: ["OperationEngine", "CLinux", "CLinuxMeasure"],
            path: "Tests/EngineProcess"),
        .target(
            name: "EngineStressScenarios", dependencies: ["OperationEngine", "TestSupport"],
            path: "Tests/EngineStressScenarios"),
        .executableTarget(
            name: "EngineStress", dependencies: ["EngineStressScenarios", "TestSupport"], path: "Tests/EngineStress"),
        // What operations cost in allocations and instructions, for scripts/engine-costs; its malloc counts.
        .target(name: "CountedMalloc", path: "Tests/CountedMalloc"),
        .executableTarget(
            name: "EngineCosts", dependencies: ["OperationEngine", "CountedMalloc"], path: "Tests/EngineCosts",
            exclude: ["expected.json"]),
        .testTarget(
            name: "OperationEngineTests",
            dependencies: [
                "OperationEngine", "OperationEngineProgress", "EngineProcess", "EngineStressScenarios", "TestSupport",
            ]),
        // The engine's sources once more, under a scheduler that decides at every atomic access who goes on; see
        // Replacements.swift there.
        .target(name: "Interleaving", dependencies: ["CLinux"], path: "Tests/Interleaving"),
        .target(name: "ExploredFutex", dependencies: ["Interleaving", "CLinux"], path: "Tests/ExploredFutex"),
        .executableTarget(
            name: "explore", dependencies: ["Interleaving", "ExploredFutex", "CLinux"], path: "Tests/ExploredEngine",
            exclude: ["Engine/Futex/FutexLock.swift", "Engine/Futex/Futex.swift", "Engine/Workers/BriefSpin.swift"]),
        // What scripts/mutate runs.
        .executableTarget(name: "mutate", path: "Tests/MutationTool"),
        .testTarget(name: "ExplorerTests", dependencies: ["explore", "mutate", "Interleaving", "TestSupport"]),
        // One program, written for Foundation, three times: moved by scoped imports, by one file of names, and not moved
        // (in the oracle tests).
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
            name: "OpBenchPageTests", dependencies: ["OpBenchPage", "OpBenchAnalysis", "OpBenchModel", "TestSupport"]),
        .testTarget(name: "OpBenchAnalysisTests", dependencies: ["OpBenchAnalysis", "OpBenchModel"]),
        .testTarget(
            name: "OpBenchHistoryTests",
            dependencies: [
                "OpBenchHistory", "OpBenchAnalysis", "OpBenchModel", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift", condition: whenSuite),
            ]),
        // Files of made-up profiles, for scripts/tests/test_profile_formats.py to read.
        .executableTarget(
            name: "OpBenchProfileSamples", dependencies: ["OpBenchProfile", "OpBenchModel"],
            path: "Tests/OpBenchProfileSamples"),
        .testTarget(
            name: "OpBenchProfileTests",
            dependencies: ["OpBenchProfile", "OpBenchAnalysis", "OpBenchModel", "TestSupport"]),
        // What readers of files promise of any bytes, held of the inputs in Corpus; scripts/fuzz looks for more.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "OpBenchModel", "OpBenchRunner", "OpBenchAnalysis", "OpBenchHistory", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift", condition: whenSuite),
            ],
            exclude: ["Corpus"]),
        // An example package's program, of the very sources that a program elsewhere is made of.
        .executableTarget(
            name: "pthread-queue", dependencies: ["OpBenchKit"],
            path: "Tests/Examples/pthread-queue/Sources/pthread-queue"),
        .testTarget(
            name: "OpBenchKitTests",
            dependencies: [
                "OpBenchKit", "OpBenchRunner", "OpBenchBackends", "OpBenchModel", "OperationEngine", "TestSupport",
            ]),
        .testTarget(
            name: "OpBenchCommandTests",
            dependencies: [
                "opbench", "pthread-queue", "OpBenchCommand", "OpBenchModel", "OpBenchLaunch", "OpBenchProfile",
                "OpBenchRunner", "OpBenchAnalysis", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: whenSuite),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The engine, its tests and tools alone, without what the benchmark suite and the comparisons need: for
// scripts/engine-costs, and for scripts/mutate, which builds all tests that there are. Traits leave out dependencies,
// and no target. The values `tests`, `memory` and `races` leave out the explorer and the tools as well.
if let extent = Context.environment["OPBENCH_ENGINE_ONLY"] {
    package.dependencies = []
    package.products.removeAll { $0.name == "opbench" || $0.name == "OpBenchKit" }
    let others = [
        "opbench", "OpBench", "Fuzz", "CBuild", "CJemalloc", "CPage", "Foundation", "Migration", "pthread-queue",
    ]
    package.targets.removeAll { target in others.contains { target.name.hasPrefix($0) } }
    // What a sanitizer finds nothing new in: a pure state machine, traps, examples; for races also cycles, and what is about
    // the calls of one thread: random programs make the same calls on many.
    let quiet = ["QueueState", "Conformance/Misuse", "Examples"]
    let ofOneThread = [
        "Barrier", "BlockOperation", "Cancellation", "CompletionBlock", "Dependency", "Limit", "ManualStart",
        "Ownership", "Priority", "Progress", "Queue", "State", "Target", "Waiting",
    ].map { "Conformance/Shared/\($0)Tests.swift" }
    let leftOut = ["tests": [], "memory": quiet, "races": quiet + ["Conformance/Cycles"] + ofOneThread]
    if let folders = leftOut[extent] {
        let tools = ["Interleaving", "explore", "Explore", "mutate", "EngineCosts", "CountedMalloc"]
        package.targets.removeAll { target in
            tools.contains { target.name.hasPrefix($0) } || target.name == "EngineStress"
        }
        package.targets.first { $0.name == "OperationEngineTests" }?.exclude += folders
    }
}

// The same readers under libFuzzer, for scripts/fuzz. The value is the path of libFuzzer's runtime without its `main`, which
// is part of the toolchain; what guides the search is counted in these modules alone.
if let runtime = Context.environment["OPBENCH_FUZZER"] {
    let read = ["OpBenchModel", "OpBenchAnalysis", "OpBenchRunner", "OpBenchHistory"]
    for target in package.targets where read.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"])]
    }
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: read.map { .byName(name: $0) }
                + [.product(name: "GRDB", package: "GRDB.swift", condition: whenSuite)],
            path: "Tests/FuzzDriver", linkerSettings: [.unsafeFlags([runtime]), .linkedLibrary("stdc++")]))
}

// What hdrhistogram-swift depends on as well. SwiftPM warns of a package that no target names.
if takesExactVersions, !package.dependencies.isEmpty {
    package.dependencies.append(suitePackage("https://github.com/apple/swift-numerics", "1.1.1"))
    package.targets.first { $0.name == "OpBenchRunner" }?.dependencies.append(
        .product(name: "Numerics", package: "swift-numerics", condition: whenSuite))
}

// A warning in our own code is an error where scripts/test asks for it, in debug builds. Never in a program that uses the
// package: SwiftPM takes the setting out of remote packages, and of a C target's leaves a lone `-Xcc`, which eats the
// next argument.
if Context.environment["OPBENCH_WARNINGS_AS_ERRORS"] != nil {
    for target in package.targets where target.type != .system {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error, .when(configuration: .debug))]
        target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error, .when(configuration: .debug))]
    }
}
