import Foundation
import TestSupport
import Testing

/// Regression tests of each reader's fuzzing: the inputs in `Corpus` and generated ones.
@Suite("Fuzzed readers") struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    private static func files(of reader: FuzzReader) throws -> [(name: String, bytes: [UInt8])] {
        let folder = corpus.appending(path: reader.name)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: folder.appending(path: name))))
        }
    }

    @Test("No input of the corpus breaks a promise", .onOwnThreads, arguments: FuzzReader.all.map(\.name))
    func corpus(name: String) throws {
        let reader = try #require(FuzzReader.named(name))
        let files = try Self.files(of: reader)
        var outcomes: [FuzzReader.Outcome] = []
        for (file, bytes) in files {
            let outcome = reader.outcome(of: bytes)
            outcomes.append(outcome)
            if case .broken(let what) = outcome { Issue.record("\(name)/\(file): \(what)") }
        }
        outcomes += try reader.seeds().map(reader.outcome)
        // Else the reader refuses whatever comes, or takes it.
        #expect(outcomes.contains(.taken) && outcomes.contains(.refused), "\(outcomes)")
    }

    @Test(
        "Every made input is taken, and no change of it breaks a promise", .onOwnThreads,
        arguments: FuzzReader.all.map(\.name))
    func seeds(name: String) throws {
        let reader = try #require(FuzzReader.named(name))
        var texts = HostileText(seed: 7)
        for seed in try reader.seeds() {
            #expect(reader.outcome(of: seed) == .taken, "\(seed)")
            for _ in 0..<Scale.of(100) {
                let changed = texts.mutated(seed)
                if case .broken(let what) = reader.outcome(of: changed) { Issue.record("\(name) \(changed): \(what)") }
            }
        }
    }

    @Test("The corpus stays small")
    func size() throws {
        let files = try FuzzReader.all.flatMap(Self.files)
        #expect(files.count <= 300 && files.reduce(0) { $0 + $1.bytes.count } <= 200_000)
    }

    @Test("Much of one thing is refused or taken", .slow, .onOwnThreads, arguments: Heap.all.indices)
    func heap(index: Int) throws {
        let heap = Heap.all[index]
        if case .broken(let what) = heap.reader.outcome(of: Array(heap.text(1 << 14).utf8)) {
            Issue.record("\(heap.reader.name), \(heap.name): \(what.prefix(500))")
        }
    }
}
