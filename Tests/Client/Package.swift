// swift-tools-version: 6.2
import PackageDescription

// Programs that depend on the package as others do: by URL and version, without the traits of the benchmark suite.
// scripts/tests/test_client.py builds a copy of them outside of this repository: without any trait, and with `Metrics`.
let takesMetrics = Context.environment["CLIENT_METRICS"] != nil

let package = Package(
    name: "client",
    dependencies: [
        .package(url: Context.environment["CLIENT_URL"]!, exact: "1.0.0", traits: takesMetrics ? ["Metrics"] : [])
    ],
    targets: [
        .executableTarget(name: "EngineAlone", dependencies: [.product(name: "OperationEngine", package: "opbench")]),
        .executableTarget(
            name: "EveryProduct",
            dependencies: [
                .product(name: "OperationEngine", package: "opbench"),
                .product(name: "OperationEngineProgress", package: "opbench"),
                .product(name: "OperationEngineFoundation", package: "opbench"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

if takesMetrics {
    package.dependencies.append(.package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"))
    package.targets.append(
        .executableTarget(
            name: "PublishedMetrics",
            dependencies: [
                .product(name: "OperationEngine", package: "opbench"),
                .product(name: "OperationEngineMetrics", package: "opbench"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]))
}
