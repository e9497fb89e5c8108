// swift-tools-version: 6.2
import PackageDescription

// A server to profile, with the engine of a clone of opbench that lies around this package.
let package = Package(
    name: "thumbnail-server",
    dependencies: [.package(name: "opbench", path: "../../..", traits: [])],
    targets: [
        .executableTarget(
            name: "thumbnail-server",
            dependencies: [.product(name: "OperationEngine", package: "opbench")])
    ],
    swiftLanguageModes: [.v6]
)
