// swift-tools-version: 6.2
import PackageDescription

// The engine is a product of its own and depends on nothing but the C shim over Linux system calls.
// Everything named OpBench… is the benchmark suite; the arrows of the README's picture are the
// `dependencies:` lists below, and CI builds with `--explicit-target-dependency-import-check error`.

/// The trait `Jemalloc` (on by default) links jemalloc into `opbench`, where it replaces malloc and reports
/// the memory figures. Sanitizer builds and `OPBENCH_ALLOCATOR=system` turn it off.
let whenJemalloc = TargetDependencyCondition.when(traits: ["Jemalloc"])

let package = Package(
    name: "opbench",
    products: [
        .library(name: "OperationEngine", targets: ["OperationEngine"]),
        .library(name: "OperationEngineProgress", targets: ["OperationEngineProgress"]),
        .library(name: "OperationEngineFoundation", targets: ["OperationEngineFoundation"]),
        .executable(name: "opbench", targets: ["opbench"]),
    ],
    traits: [
        .trait(name: "Jemalloc", description: "Link jemalloc into opbench and measure memory with it."),
        .default(enabledTraits: ["Jemalloc"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/ordo-one/TextTable", exact: "0.0.2"),
    ],
    targets: [
        .target(name: "CLinux"),
        .systemLibrary(name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
        .target(name: "OperationEngine", dependencies: ["CLinux"]),
        // `OperationQueue.progress`, for which the engine would have to import Foundation.
        .target(name: "OperationEngineProgress", dependencies: ["OperationEngine"]),
        // The engine's queues where Foundation's calls ask for one; needs FoundationNetworking.
        .target(name: "OperationEngineFoundation", dependencies: ["OperationEngine"]),
        .target(name: "OpBenchModel"),
        .target(
            name: "OpBenchRunner",
            dependencies: [
                "OpBenchModel", "OperationEngine", "CLinux",
                .target(name: "CJemalloc", condition: whenJemalloc),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: [.define("JEMALLOC", .when(traits: ["Jemalloc"]))]),
        .target(name: "OpBenchAnalysis", dependencies: ["OpBenchModel"]),
        .executableTarget(
            name: "opbench",
            dependencies: [
                "OpBenchModel", "OpBenchRunner", "OpBenchAnalysis",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "TextTable", package: "TextTable"),
            ]),
        .target(name: "TestSupport", dependencies: ["OperationEngine", "CLinux"], path: "Tests/TestSupport"),
        // Scenarios that need a process of their own; the engine's tests run it.
        .executableTarget(
            name: "EngineProcess", dependencies: ["OperationEngine", "CLinux"], path: "Tests/EngineProcess"),
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
            exclude: ["Engine/Futex/FutexLock.swift", "Engine/Workers/BriefSpin.swift"]),
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
        .testTarget(name: "OpBenchRunnerTests", dependencies: ["OpBenchRunner", "OpBenchModel", "TestSupport"]),
        .testTarget(name: "OpBenchAnalysisTests", dependencies: ["OpBenchAnalysis", "OpBenchModel"]),
        .testTarget(
            name: "OpBenchCommandTests",
            dependencies: [
                "opbench", "OpBenchModel", "OpBenchRunner", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The engine, its tests and tools alone, without what the benchmark suite and the comparisons need; for scripts/mutate.
if Context.environment["OPBENCH_ENGINE_ONLY"] != nil {
    package.dependencies = []
    package.products.removeAll { $0.name == "opbench" }
    let others = ["opbench", "OpBench", "CJemalloc", "Foundation", "Migration"]
    package.targets.removeAll { target in others.contains { target.name.hasPrefix($0) } }
}

// A warning in our own code is an error where we work, in debug builds; a user's release build, perhaps with a newer
// compiler that warns of more, is left in peace.
for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error, .when(configuration: .debug))]
    target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error, .when(configuration: .debug))]
}
