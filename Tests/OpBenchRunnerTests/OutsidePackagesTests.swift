import Foundation
import Testing

@testable import OpBenchRunner

/// Packages that a commit uses from outside its repository; the command's tests cover those next to it.
struct OutsidePackagesTests {
    /// `outer` is a package, and `outer/package` the repository of another, with its work tree.
    private func arrange() throws -> (outer: String, packages: OutsidePackages) {
        let folder = try Fixture.folder()
        let packages = OutsidePackages(root: folder + "/tree", repository: folder + "/outer/package")
        for package in ["\(folder)/outer", packages.tree] {
            try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: package + "/Package.swift"))
        }
        return (folder + "/outer", packages)
    }

    @Test func `an absolute path may lead to a package that contains the repository`() async throws {
        let (outer, packages) = try arrange()
        let found = try await packages.link(from: packages.tree) { $0 == packages.tree ? [outer] : [] }
        #expect(found == [outer])
        #expect(access(packages.root + outer + "/Package.swift", F_OK) != 0, "nothing is put above the work tree")
    }

    @Test func `a relative path may not, and a remedy is given`() async throws {
        let (outer, packages) = try arrange()
        let error = await #expect(throws: BuildError.self) {
            _ = try await packages.link(from: packages.tree) { $0 == packages.tree ? [packages.root + outer] : [] }
        }
        #expect(error?.message.contains(outer) == true && error?.remedy.isEmpty == false)
    }
}
