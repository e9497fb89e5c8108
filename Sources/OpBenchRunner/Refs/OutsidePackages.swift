import Foundation
import Glibc

/// The packages that a package in a work tree takes from outside its repository by relative paths, as in
/// `.package(path: "../x")`.
///
/// From the work tree, such a path would lead elsewhere. So the tree mirrors the repository's own path under a folder
/// of ours, and we control every folder above it: a link there leads to the package.
struct OutsidePackages {
    /// The folder that mirrors `/`.
    let root: String
    /// The repository's own path.
    let repository: String

    /// The work tree's path.
    var tree: String { root + repository }

    /// Links the outside packages of the package in `folder`, and their own outside packages in turn.
    ///
    /// - Parameter dependencies: the local packages that a folder's manifest names, by their absolute paths.
    /// - Returns: the paths of those packages.
    /// - Throws: `BuildError` if one does not exist, or cannot be linked.
    func link(from folder: String, dependencies: (String) async throws -> [String]) async throws -> [String] {
        var outside: Set<String> = []
        var (seen, pending): (Set<String>, [String]) = ([folder], [folder])
        while let next = pending.popLast() {
            for path in try await dependencies(next) {
                let isOurs = path.hasPrefix(root + "/")
                // One spelling for a place that has two paths.
                let place = isOurs ? path : root + path
                guard seen.insert(place).inserted else { continue }
                if place == tree || place.hasPrefix(tree + "/") {
                    pending.append(place)
                    continue
                }
                let original = String(decoding: place.utf8.dropFirst(root.utf8.count), as: UTF8.self)
                try checkPresence(of: original)
                // An absolute path in the work tree works by itself. The paths of outside packages are absolute here,
                // whatever their manifests contain.
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
                message: "the package depends on \(package), outside its repository, which does not exist",
                remedy: "put the package there, or name two builds: `opbench ab BASE HEAD FILE…`")
        }
    }

    private func link(_ path: String, to original: String) throws {
        unlink(path)
        // A link to a folder above may reach it already.
        if access(path + "/Package.swift", F_OK) == 0 { return }
        do {
            let files = FileManager.default
            try files.createDirectory(
                at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: path, withDestinationPath: original)
        } catch {
            throw BuildError(
                message: "the package depends on \(original), which contains the package's own repository",
                remedy: "name it by its absolute path, or name two builds: `opbench ab BASE HEAD FILE…`")
        }
    }

    // MARK: Manifests

    /// A manifest in the format of `swift package dump-package`.
    private struct Manifest: Decodable {
        struct Dependency: Decodable { var fileSystem: [Local]? }
        struct Local: Decodable { var path: String }

        var dependencies: [Dependency]
    }

    /// The local packages in a manifest; empty if it is not a manifest.
    static func local(in manifest: String) -> [String] {
        let read = try? JSONDecoder().decode(Manifest.self, from: Data(manifest.utf8))
        return read?.dependencies.flatMap { $0.fileSystem ?? [] }.map(\.path) ?? []
    }
}
