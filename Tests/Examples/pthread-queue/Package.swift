// swift-tools-version: 6.2
import PackageDescription

// A program that measures a queue of its own with opbench, of a clone of it that lies around this package.
let package = Package(
    name: "pthread-queue",
    dependencies: [.package(name: "opbench", path: "../../..")],
    targets: [
        .executableTarget(
            name: "pthread-queue", dependencies: [.product(name: "OpBenchKit", package: "opbench")])
    ],
    swiftLanguageModes: [.v6]
)
