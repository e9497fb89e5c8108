// swift-tools-version: 6.2
import PackageDescription

// Programs to record, profile and replay, with the engine of a clone of opbench that lies around this package.
let parts: [Target.Dependency] = [
    "ProgramParts", .product(name: "OperationEngine", package: "opbench"),
    .product(name: "OperationEngineRecorder", package: "opbench"),
]
let package = Package(
    name: "recorded-programs",
    dependencies: [.package(name: "opbench", path: "../../..", traits: [])],
    targets: [
        .target(name: "ProgramParts"),
        .executableTarget(name: "thumbnail-server", dependencies: parts),
        .executableTarget(name: "shop", dependencies: parts),
        .executableTarget(name: "image-pipeline", dependencies: parts),
        .executableTarget(name: "downloader", dependencies: parts),
    ],
    swiftLanguageModes: [.v6]
)
