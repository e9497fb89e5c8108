import Foundation
import Glibc

/// What a package in a work tree takes from outside of its repository by relative paths, as in `.package(path: "../x")`.
///
/// Seen from the work tree such a path leads elsewhere. The tree lies at its repository's own path under a folder of ours,
/// so that every place above it is ours as well: a link there leads to the package itself.
struct OutsidePackages {
    /// The folder that stands for `/`.
    let root: String
    /// The repository's own path.
    let repository: String

    /// The work tree's place.
    var tree: String { root + repository }

    /// Links what the package in `folder` takes from outside, and what that takes in turn.
    ///
    /// - Parameter dependencies: the local packages that a folder's manifest names, by their absolute paths.
    /// - Returns: where those packages are.
    /// - Throws: `BuildError` if one is not there, or cannot be reached so.
    func link(from folder: String, dependencies: (String) async throws -> [String]) async throws -> [String] {
        var outside: Set<String> = []
        var (seen, pending): (Set<String>, [String]) = ([folder], [folder])
        while let next = pending.popLast() {
            for path in try await dependencies(next) {
                let isOurs = path.hasPrefix(root + "/")
                // The same place by both of its paths.
                let place = isOurs ? path : root + path
                guard seen.insert(place).inserted else { continue }
                if place == tree || place.hasPrefix(tree + "/") {
                    pending.append(place)
                    continue
                }
                let original = String(decoding: place.utf8.dropFirst(root.utf8.count), as: UTF8.self)
                try checkPresence(of: original)
                // An absolute path in the work tree leads there by itself. What a package outside names is absolute here,
                // whatever its manifest says.
                if isOurs || !next.hasPrefix(root + "/") { try link(place, to: original) }
                outside.insert(original)
                pending.append(original)
            }
        }
        return outside.sorted()
    }

    private func checkPresence(of package: String) throws {
        guard access(package + "/Package.swift", F_OK) == 0 else {
            throw BuildError(
                message: "the package takes another one from \(package), outside of its repository, and none is there",
                remedy: "put it there, or name two builds: `opbench ab BASE HEAD FILE…`")
        }
    }

    private func link(_ path: String, to original: String) throws {
        unlink(path)
        // It may be reached by the link to a folder above it.
        if access(path + "/Package.swift", F_OK) == 0 { return }
        do {
            let files = FileManager.default
            try files.createDirectory(
                at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: path, withDestinationPath: original)
        } catch {
            throw BuildError(
                message: "the package takes another one from \(original), which its own repository lies in",
                remedy: "name it by its absolute path, or name two builds: `opbench ab BASE HEAD FILE…`")
        }
    }

    // MARK: What a manifest names

    /// As `swift package dump-package` writes a manifest.
    private struct Manifest: Decodable {
        struct Dependency: Decodable { var fileSystem: [Local]? }
        struct Local: Decodable { var path: String }

        var dependencies: [Dependency]
    }

    /// The local packages in a manifest; empty if it is none.
    static func local(in manifest: String) -> [String] {
        let read = try? JSONDecoder().decode(Manifest.self, from: Data(manifest.utf8))
        return read?.dependencies.flatMap { $0.fileSystem ?? [] }.map(\.path) ?? []
    }
}
