// The readers of Tests/FuzzTests under libFuzzer: scripts/fuzz builds it and describes it.

import Foundation
import Synchronization

/// libFuzzer's own `main`, without the name.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

private func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("fuzz: \(message)\n".utf8))
    exit(64)
}

/// The state of libFuzzer's callback, which captures nothing.
private enum Chosen {
    nonisolated(unsafe) static var reader = FuzzReader.workload
    nonisolated(unsafe) static var words: [String] = []
    static let taken = Atomic(0)
    static let refused = Atomic(0)
}

private func fuzz(_ reader: FuzzReader) -> Never {
    (Chosen.reader, Chosen.words) = (reader, reader.words())
    atexit {
        let (taken, refused) = (Chosen.taken.load(ordering: .relaxed), Chosen.refused.load(ordering: .relaxed))
        FileHandle.standardError.write(Data("taken: \(taken) refused: \(refused)\n".utf8))
    }
    var count = CommandLine.argc - 1
    // The reader's name replaces the program's, which libFuzzer ignores.
    var arguments = CommandLine.unsafeArgv + 1
    exit(
        runFuzzer(&count, &arguments) { bytes, length in
            switch Chosen.reader.outcome(of: Array(UnsafeBufferPointer(start: bytes, count: length))) {
            case .taken: Chosen.taken.add(1, ordering: .relaxed)
            case .refused: Chosen.refused.add(1, ordering: .relaxed)
            case .broken(let what): fatalError(what)
            }
            return 0
        })
}

@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ bytes: UnsafeMutablePointer<UInt8>, _ length: Int, _ limit: Int) -> Int

/// Called by libFuzzer, by its name, for the next input.
@_cdecl("LLVMFuzzerCustomMutator")
func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ length: Int, _ limit: Int, _ seed: UInt32) -> Int {
    var mutator = Mutator(Chosen.words, seed: seed)
    if seed % 2 == 0,
        let mutated = mutator.mutated(Array(UnsafeBufferPointer(start: bytes, count: length)), Chosen.reader.form),
        mutated.count <= limit
    {
        bytes.update(from: mutated, count: mutated.count)
        return mutated.count
    }
    return mutateBytes(bytes, length, limit)
}

/// As libFuzzer's dictionaries have it: bytes that are not plain as `\xAB`.
private func dictionary(_ words: [String]) -> String {
    var seen: Set<String> = []
    return words.filter { !$0.isEmpty && $0.utf8.count <= 64 && seen.insert($0).inserted }.map { word in
        let escaped = word.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
            case 0x20..<0x7F: String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return "\"\(escaped.joined())\"\n"
    }.joined()
}

/// Holds that each reader gets through a megabyte of anything.
private func readHeaps() -> Never {
    var failed = false
    for heap in Heap.all {
        let bytes = Array(heap.text(1 << 20).utf8)
        let clock = ContinuousClock()
        var outcome = FuzzReader.Outcome.refused
        let seconds = clock.measure { outcome = heap.reader.outcome(of: bytes) } / .seconds(1)
        var note = ""
        if case .broken(let what) = outcome { note = ": \(what.prefix(300))" }
        if seconds > 10 { note += ": too slow" }
        failed = failed || !note.isEmpty
        let line = "\(heap.reader.name)\t\(heap.name)\t\(Int(seconds * 1000)) ms\(note)\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
    exit(failed ? 1 : 0)
}

let words = CommandLine.arguments.dropFirst()
switch (words.first ?? "", words.dropFirst().first) {
case ("readers", nil):
    for reader in FuzzReader.all { print(reader.name, reader.lengthLimit) }
case ("heaps", nil): readHeaps()
case ("words", let name?):
    guard let reader = FuzzReader.named(name) else { fail("there is no reader \(name)") }
    print(dictionary(reader.words()), terminator: "")
case ("seeds", let name?):
    guard let reader = FuzzReader.named(name), words.count == 3, let folder = words.last else {
        fail("seeds takes a reader and a folder")
    }
    for (number, seed) in try reader.seeds().enumerated() {
        try Data(seed).write(to: URL(filePath: "\(folder)/made-\(number)"))
    }
case (let name, _):
    guard let reader = FuzzReader.named(name) else { fail("there is no command or reader \(name)") }
    fuzz(reader)
}
