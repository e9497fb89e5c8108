// swift-tools-version: 6.2
import PackageDescription

// A program that measures SwiftNIO's threads with opbench, of a clone of it that lies around this package.
let package = Package(
    name: "nio-thread-pool",
    dependencies: [
        .package(name: "opbench", path: "../../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        .executableTarget(
            name: "nio-thread-pool",
            dependencies: [
                .product(name: "OpBenchKit", package: "opbench"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
