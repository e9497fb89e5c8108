import Foundation
import Testing

/// The engine's and Foundation's operations: adapters that drift apart would falsify the comparison.
@Suite struct LibraryTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/OpBenchBackends/Queues")

    private static func text(_ library: String, _ queue: String) throws -> [Substring] {
        try String(contentsOf: folder.appendingPathComponent("\(queue)Operations.swift"), encoding: .utf8)
            .replacing("\(library).", with: "").replacing("\(queue)Queue", with: "Queue")
            .split(separator: "\n").filter { !$0.hasPrefix("import ") }
    }

    @Test func `both libraries have the same operations`() throws {
        let engine = try Self.text("OperationEngine", "Engine")
        #expect(engine.count >= 50)
        #expect(try engine == Self.text("Foundation", "Foundation"))
    }
}
