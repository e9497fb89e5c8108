import Foundation
import TestSupport
import Testing

@testable import OpBenchRunner

@Suite("Programs built from two commits")
struct BuiltCommitTests {
    private static let (one, other) = (String(repeating: "a1", count: 20), String(repeating: "b2", count: 20))

    @Test(
        "are the same if they differ only by their own commits",
        arguments: [
            ("x\(one)y\(one)", "x\(other)y\(other)", true), ("xyz", "xyz", true), ("", "", true),
            ("\(one)", "\(other)", true),
            ("x\(one)y", "x\(other)z", false), ("y\(one)", "z\(other)", false), ("x\(one)", "x\(other)x", false),
            // The other's commit, or a different position.
            ("x\(one)", "x\(one)", false), ("x\(one)\(other)", "x\(other)\(other)", false),
            ("x\(one)", "\(other)x", false), ("x\(one)", "x\(String(repeating: "c", count: 40))", false),
        ])
    func files(base: String, head: String, areSame: Bool) {
        #expect(BuiltCommit.areSame(Data(base.utf8), Self.one, Data(head.utf8), Self.other) == areSame)
    }

    /// A program with only a note, as linkers write it: the digest of the rest.
    private func program(digest: String, rest: String, size: UInt32 = 20) -> Data {
        func bytes(_ values: [UInt64], _ width: Int) -> [UInt8] {
            values.flatMap { value in (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) } }
        }
        let header: [UInt8] =
            [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 25) + bytes([64], 8)
            + [UInt8](repeating: 0, count: 14) + bytes([56, 1], 2) + [UInt8](repeating: 0, count: 6)
        let segment = bytes([4, 0], 4) + bytes([120, 0, 0, 36, 36, 4], 8)
        let note = bytes([4, UInt64(size), 3], 4) + Array("GNU\0".utf8) + Array(digest.utf8)
        return Data(header + segment + note + Array(rest.utf8))
    }

    @Test("and by the linker's digest of the rest, which only counts in a program's notes")
    func digests() {
        let (a, b) = (String(repeating: "a", count: 20), String(repeating: "b", count: 20))
        func areSame(_ base: Data, _ head: Data) -> Bool { BuiltCommit.areSame(base, Self.one, head, Self.other) }
        #expect(areSame(program(digest: a, rest: Self.one), program(digest: b, rest: Self.other)))
        #expect(!areSame(program(digest: a, rest: "x"), program(digest: b, rest: "y")))
        #expect(!areSame(program(digest: a, rest: a), program(digest: a, rest: b)))
        // A note that claims to extend beyond its segment is ignored.
        #expect(!areSame(program(digest: a, rest: "", size: 21), program(digest: b, rest: "", size: 21)))
        #expect(!areSame(program(digest: a, rest: "", size: .max), program(digest: b, rest: "", size: .max)))
    }

    @Test("with all files next to them, except the record of the build")
    func folders() throws {
        let root = try TemporaryFolder.make()
        defer { try? FileManager.default.removeItem(atPath: root) }
        func built(_ name: String, _ commit: String, _ files: [String: String]) throws -> BuiltCommit {
            let folder = "\(root)/\(name)"
            for (name, text) in files {
                let file = URL(fileURLWithPath: "\(folder)/\(name)")
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
            return BuiltCommit(
                commit: PackageCommit(ref: commit, id: commit), folder: folder, product: "program")
        }
        let files = ["program": "p", "a.resources/data": "d", "b.so": "b"]
        let base = try built("base", Self.one, files.merging(["made-by": "one", "program": Self.one]) { $1 })
        func isSame(_ name: String, _ change: [String: String]) throws -> Bool {
            try base.isSame(
                as: try built(name, Self.other, files.merging(["program": Self.other]) { $1 }.merging(change) { $1 }))
        }
        #expect(try isSame("same", ["made-by": "other"]))
        #expect(try !isSame("resource", ["a.resources/data": "e"]))
        #expect(try !isSame("more", ["a.resources/more": ""]))
        #expect(try base.isSame(as: base))
    }

    @Test("executable products are those that a manifest declares, and those of its executable targets")
    func executables() throws {
        let manifest = """
            {"name": "p", "products": [{"name": "lib", "type": {"library": ["automatic"]}, "targets": ["lib"]},
              {"name": "tool", "type": {"executable": null}, "targets": ["main"]}],
             "targets": [{"name": "lib", "type": "regular"}, {"name": "main", "type": "executable"}]}
            """
        #expect(PackageExecutables(manifest: manifest)?.names == ["tool", "main"])
        #expect(PackageExecutables(manifest: #"{"dependencies": []}"#) == nil)
        #expect(PackageExecutables(manifest: "error") == nil)
    }
}
