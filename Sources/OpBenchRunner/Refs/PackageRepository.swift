import Foundation
import Glibc
import OpBenchLaunch
import OpBenchModel

/// A package in a git repository, which resolves its refs.
public struct PackageRepository: Sendable {
    /// The folder of Package.swift.
    let package: String
    /// That folder's path within the repository: empty, or ending in a slash.
    let prefix: String

    /// The package of a folder, or of the nearest parent that has one.
    ///
    /// - Throws: `InputError` if there is none, or if it is not in a repository; `BuildError` without git.
    public static func containing(_ folder: String) async throws -> PackageRepository {
        guard let package = nearestPackage(folder) else {
            throw InputError(
                file: folder, message: "there is no Package.swift here or above",
                remedy: "go to the folder of the package to build")
        }
        let asked: Program.Printed
        do {
            asked = try await Git.run(["rev-parse", "--show-prefix"], in: package)
        } catch let error as LaunchError {
            throw BuildError(message: "git cannot be run: \(error)", remedy: "install git")
        }
        guard asked.isSuccess else {
            throw InputError(
                file: package,
                message: "git does not accept the package's repository, or there is none: "
                    + asked.errors.trimmingCharacters(in: .newlines),
                remedy: "name two builds instead: `opbench ab BASE HEAD FILE…`")
        }
        return PackageRepository(package: package, prefix: asked.text.trimmingCharacters(in: .newlines))
    }

    private static func nearestPackage(_ folder: String) -> String? {
        guard let resolved = realpath(folder, nil) else { return nil }
        defer { free(resolved) }
        var place = URL(fileURLWithPath: String(cString: resolved))
        while access(place.appendingPathComponent("Package.swift").path, F_OK) != 0 {
            if place.path == "/" { return nil }
            place.deleteLastPathComponent()
        }
        return place.path
    }

    /// The commit that a ref names.
    ///
    /// - Parameter option: the option that gave it.
    /// - Throws: `InputError` if there is no such commit.
    public func commit(of ref: String, option: String) async throws -> PackageCommit {
        func object(_ name: String) async throws -> String? {
            let asked = try await Git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", name], in: package)
            let id = asked.text.trimmingCharacters(in: .newlines)
            return asked.isSuccess && id.utf8.count >= 40 && id.allSatisfy(\.isHexDigit) ? id : nil
        }
        // In two steps: whatever follows `:/` would belong to the text that git searches for.
        guard let named = try await object(ref), let commit = try await object(named + "^{commit}") else {
            throw InputError(
                file: option, message: "there is no commit \"\(ref)\" in the repository of \(package)",
                remedy: "`git branch --all` lists names; fetch it first in a shallow clone")
        }
        return PackageCommit(ref: ref, id: commit)
    }

    /// The commits after one up to its descendant, the oldest first, along first parents: a merge counts as one commit.
    ///
    /// - Parameter option: the option that gave them.
    /// - Throws: `InputError` if there are none, or if the first is not on the other's line of first parents.
    public func commits(
        after good: PackageCommit, upTo bad: PackageCommit, option: String
    ) async throws -> [DescribedCommit] {
        let asked = try await Git.run(
            ["rev-list", "--first-parent", "--reverse", "--format=%P%x09%aI%x09%s", "\(good.id)..\(bad.id)"],
            in: package)
        guard asked.isSuccess else {
            throw BuildError(
                message: "git cannot list the commits: \(asked.errors.trimmingCharacters(in: .newlines))",
                remedy: "fetch them first in a shallow clone")
        }
        let commits = DescribedCommit.list(asked.text)
        guard let first = commits.first, first.firstParent == good.id else {
            throw InputError(
                file: option,
                message: commits.isEmpty
                    ? "there is no commit after \(good.words) up to \(bad.words)"
                    : "\(good.words) is not on the line of first parents of \(bad.words)",
                remedy: "name two commits that `git log --first-parent \(bad.ref)` lists, the older one first")
        }
        return commits.map { $0.described }
    }

    /// The number of files in the work tree that differ from the checked-out commit. Untracked files do not count.
    public func changedFiles() async throws -> Int {
        let asked = try await Git.run(
            ["status", "--porcelain", "--untracked-files=no"], in: package, seconds: Git.secondsOfStatus)
        return asked.text.utf8.count { $0 == UInt8(ascii: "\n") }
    }
}

/// A commit: the user's name for it, and its id.
public struct PackageCommit: Sendable, Equatable {
    public let ref: String
    /// The full hash, in hexadecimal digits.
    public let id: String

    /// Readable form: `main (1a2b3c4d5e)`.
    public var words: String { id.hasPrefix(ref) ? shortID : "\(ref) (\(shortID))" }

    public var shortID: String { String(id.prefix(10)) }
}

/// A commit of a history, with what people know it by.
public struct DescribedCommit: Sendable, Equatable {
    public let commit: PackageCommit
    /// In ISO 8601, with the author's time zone.
    public let authorDate: String
    /// The first line of its message.
    public let subject: String

    /// Reads what `git rev-list` prints: a line `commit <id>`, then its parents, date and subject between tabs.
    static func list(_ text: String) -> [(described: DescribedCommit, firstParent: String)] {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        return stride(from: 0, to: lines.count - 1, by: 2).map { index in
            let id = String(lines[index].dropFirst("commit ".count))
            let fields = lines[index + 1].split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
                .map(String.init)
            let commit = PackageCommit(ref: id, id: id)
            let described = DescribedCommit(
                commit: commit, authorDate: fields.count > 1 ? fields[1] : "",
                subject: fields.count > 2 ? fields[2] : "")
            return (described, String(fields[0].prefix { $0 != " " }))
        }
    }
}

/// A program could not be built, for a reason other than bad input.
public struct BuildError: Error, CustomStringConvertible {
    public let message: String
    let remedy: String
    /// The commit whose sources are the cause; nil for another cause.
    public var commit: PackageCommit?

    public var description: String { "\(message); \(remedy)" }
}

/// The executable products that a package's manifest names, as `swift package dump-package` writes it.
struct PackageExecutables: Decodable {
    private struct Product: Decodable {
        /// An object with one member, named by the kind.
        struct Kind: Decodable {
            let isExecutable: Bool

            private struct Name: CodingKey {
                let stringValue: String
                let intValue: Int? = nil
                init?(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }

            init(from decoder: any Decoder) throws {
                let names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
                isExecutable = names.contains("executable")
            }
        }

        let name: String
        let type: Kind
    }

    private struct Target: Decodable {
        let name: String
        let type: String
    }

    private let products: [Product]
    private let targets: [Target]

    /// The names, with those of undeclared products: SwiftPM makes a product of each executable target.
    var names: Set<String> {
        Set(products.filter(\.type.isExecutable).map(\.name) + targets.filter { $0.type == "executable" }.map(\.name))
    }

    /// Returns nil if the text is not a manifest.
    init?(manifest: String) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(manifest.utf8)) else { return nil }
        self = read
    }
}

/// The base has no program that takes samples, so there is nothing to compare with.
public struct NoBaseline: Error, CustomStringConvertible {
    let base: PackageCommit
    let reason: String

    public var description: String { "\(base.words) \(reason), so there is nothing to compare with" }
}
