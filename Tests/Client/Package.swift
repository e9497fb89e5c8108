// swift-tools-version: 6.2
import PackageDescription

// A program that depends on the package as others do: by URL and version, without the traits of the benchmark suite.
// scripts/tests/test_client.py builds a copy of it outside of this repository.
let package = Package(
    name: "client",
    dependencies: [
        .package(url: Context.environment["CLIENT_URL"]!, exact: "1.0.0", traits: [])
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
