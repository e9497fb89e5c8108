import Foundation
import OpBenchModel

extension RefBuilds {
    /// Finds out whether both commits have the product, before either is built.
    ///
    /// - Parameters:
    ///   - base: nil if its program is already there.
    ///   - head: the same.
    func checkProducts(base: PackageCommit?, head: PackageCommit?) async throws {
        if let head, let others = try await executablesWithoutProduct(head) {
            throw InputError(
                file: "--product", message: "\(head.words) has no executable product \"\(product)\"",
                remedy: others.isEmpty ? "name a commit that has one" : Suggestion.remedy(for: product, among: others))
        }
        if let base, try await executablesWithoutProduct(base) != nil {
            throw NoBaseline(base: base, reason: "has no executable product \(product)")
        }
    }

    /// The executable products of a commit that lacks the one to build. Nil if the commit has it, or if its manifest
    /// does not show that: then the build does.
    private func executablesWithoutProduct(_ commit: PackageCommit) async throws -> [String]? {
        guard let names = try await executables(of: commit), !names.contains(product) else { return nil }
        return names.sorted()
    }

    /// Reads the manifest alone, in a folder without the sources: there may be many, and the work tree stays where it
    /// is.
    private func executables(of commit: PackageCommit) async throws -> Set<String>? {
        let within = repository.prefix.isEmpty ? [] : [repository.prefix]
        let listed = try await Git.run(
            ["ls-tree", "-z", "--name-only", "--full-tree", commit.id] + within, in: repository.package)
        guard listed.isSuccess else { return nil }
        let names = listed.output.split(separator: "\0").map {
            String(decoding: $0.utf8.dropFirst(repository.prefix.utf8.count), as: UTF8.self)
        }
        let manifests = names.filter {
            $0 == "Package.swift" || $0.hasPrefix("Package@swift-") && $0.hasSuffix(".swift")
        }
        guard manifests.contains("Package.swift") else { return [] }
        let place = folder + "/manifest"
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        for name in manifests {
            let text = try await Git.run(
                ["cat-file", "blob", "\(commit.id):\(repository.prefix)\(name)"], in: repository.package)
            guard text.isSuccess else { return nil }
            try text.output.write(toFile: "\(place)/\(name)", atomically: false, encoding: .utf8)
        }
        let dumped = try await swift(
            ["package", "--package-path", place, "--scratch-path", folder + "/manifests", "dump-package"],
            telling: ["LD_PRELOAD": nil], mixesErrors: false)
        return dumped.isSuccess ? PackageExecutables(manifest: dumped.output)?.names : nil
    }
}
