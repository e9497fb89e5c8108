import Foundation
import Glibc
import OpBenchLaunch
import OpBenchModel

/// Builds commits of a package, in a work tree of their own, and keeps the programs.
///
/// All of it lies in `.build/refs` of the package:
/// - `tree`: stands for `/`: in it, at the repository's own path, a git work tree, which goes from commit to commit, and
///   beside that links to what the package takes from outside of its repository;
/// - `build`: SwiftPM's folder for it, so that the second commit takes only what differs;
/// - `programs/<commit>-<digest>`: what was built, by which compiler and with which options; moved there when it is
///   complete: an interrupted build leaves nothing there.
///
/// Removing the folder is safe.
public struct RefBuilds: Sendable {
    let repository: PackageRepository
    let product: String
    /// For `swift build`, beside configuration, product and folders.
    private let options: [String]
    let folder: String
    private let say: @Sendable (String) -> Void
    private let building: Building

    /// Is told what is built when that begins; gives what is called at its end, with whether it was built.
    public typealias Building = @Sendable (_ words: String) -> @Sendable (_ isBuilt: Bool) -> Void

    /// - Parameters:
    ///   - product: the name of the executable product.
    ///   - options: further arguments of `swift build`.
    ///   - say: is told in a line what was found.
    ///   - building: is told what takes long.
    public init(
        of repository: PackageRepository, product: String, options: [String],
        say: @escaping @Sendable (String) -> Void, building: @escaping Building
    ) {
        (self.repository, self.product, self.options) = (repository, product, options)
        (self.say, self.building) = (say, building)
        folder = repository.package + "/.build/refs"
    }

    /// Returns the programs of two commits, built now or before.
    ///
    /// - Throws: `InputError` if the head has no such product. `NoBaseline` if the base has none, before anything is
    ///   built, or if the base's program is no opbench. `BuildError` if one cannot be built. `CancellationError` if the
    ///   task is cancelled.
    ///
    /// A program that was made of packages from outside of the repository is made anew if these have changed: if they are
    /// at other commits, or are not just what a commit has.
    public func programs(
        base: PackageCommit, head: PackageCommit
    ) async throws -> (base: BuiltCommit, head: BuiltCommit) {
        let lock = try RefLock(folder: folder)
        defer { lock.release() }
        let made = try await madeBy()
        try await checkProducts(
            base: try await isKept(place(of: base, made), made) ? nil : base,
            head: try await isKept(place(of: head, made), made) ? nil : head)
        var programs: [String: BuiltCommit] = [:]
        for commit in try await inOrderOfWork([base, head]) where programs[commit.id] == nil {
            programs[commit.id] = try await program(of: commit, made)
        }
        let built = (base: programs[base.id]!, head: programs[head.id]!)
        // If the head's program is no opbench, the caller that asks it finds out.
        if await BuildFacts.isOpBench(built.head.program), await !BuildFacts.isOpBench(built.base.program) {
            throw NoBaseline(base: base, reason: "has a program \(product) that takes no samples for this opbench")
        }
        return built
    }

    private func program(of commit: PackageCommit, _ made: String) async throws -> BuiltCommit {
        let place = place(of: commit, made)
        if try await isKept(place, made) {
            say("\(commit.words) was built before, in \(place)")
        } else {
            let end = building(commit.words)
            var isBuilt = false
            defer { end(isBuilt) }
            try await checkOut(commit)
            let outside = try await linkOutside()
            // Read before the program is taken.
            let states = try await states(of: outside)
            try keep(try await build(commit), in: place, made: made + Self.separator + states)
            isBuilt = true
        }
        return BuiltCommit(commit: commit, folder: place, product: product)
    }

    private func place(of commit: PackageCommit, _ made: String) -> String {
        "\(folder)/programs/\(commit.id)-\(SHA256.hexadecimal(of: Array(made.utf8)).prefix(12))"
    }

    /// The commit that the work tree is at comes first: of it the least is left to be built.
    private func inOrderOfWork(_ commits: [PackageCommit]) async throws -> [PackageCommit] {
        guard try await isWorkTree() else { return commits }
        let asked = try await Git.run(["rev-parse", "HEAD"], in: source)
        let present = asked.output.trimmingCharacters(in: .newlines)
        return commits.filter { $0.id == present } + commits.filter { $0.id != present }
    }

    /// What a kept program must have been made by to be the one that would be made now.
    private func madeBy() async throws -> String {
        let compiler = try await swift(["--version"])
        guard compiler.isSuccess else { throw BuildError(message: "swift cannot be run", remedy: "put it on PATH") }
        let versions = (try? String(contentsOfFile: ownVersions, encoding: .utf8)) ?? ""
        // As Package.swift decides it.
        let allocator = ProcessInfo.processInfo.environment["OPBENCH_ALLOCATOR"] == "system" ? "system" : "jemalloc"
        return compiler.output + ([product] + options + [allocator, versions]).joined(separator: "\n")
    }

    private static let separator = "\nand of packages from elsewhere:\n"

    private func isKept(_ place: String, _ made: String) async throws -> Bool {
        guard let text = try? String(contentsOfFile: "\(place)/\(BuiltCommit.record)", encoding: .utf8),
            text.hasPrefix(made + Self.separator)
        else { return false }
        let states = text.dropFirst((made + Self.separator).count)
        let paths = states.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
        return states.contains(Self.changing) ? false : try await self.states(of: paths) == states
    }

    private static let changing = "\tchanging"

    /// A line for each: the commit that a package is at, if it is just that.
    private func states(of packages: [String]) async throws -> String {
        var lines = ""
        for path in packages {
            let head = try await Git.run(["rev-parse", "HEAD"], in: path)
            let changes = try await Git.run(["status", "--porcelain", "--", "."], in: path)
            let isCommit = head.isSuccess && changes.isSuccess && changes.output.isEmpty
            lines += path + (isCommit ? "\t" + head.output : Self.changing + "\n")
        }
        return lines
    }

    // MARK: The work tree

    private var outside: OutsidePackages {
        // A prefix ends in the slash that the package's path has before it.
        let path = package.utf8.dropLast(repository.prefix.utf8.count)
        return OutsidePackages(root: folder + "/tree", repository: String(decoding: path, as: UTF8.self))
    }

    private var package: String { repository.package }

    private var source: String { outside.tree }

    private func checkOut(_ commit: PackageCommit) async throws {
        if try await isWorkTree() {
            let moved = try await Git.run(["checkout", "--quiet", "--detach", "--force", commit.id], in: source)
            // What a build has left there, and older versions of other packages, are no part of the commit.
            let cleaned = try await Git.run(["clean", "-ffdxq"], in: source)
            if moved.isSuccess, cleaned.isSuccess { return try takeVersions(of: commit) }
        }
        try? FileManager.default.removeItem(atPath: source)
        _ = try await Git.run(["worktree", "prune"], in: repository.package)
        let added = try await Git.run(
            // Twice: also where an interrupted call has left it locked.
            ["worktree", "add", "--quiet", "--detach", "--force", "--force", source, commit.id], in: repository.package)
        guard added.isSuccess else {
            throw BuildError(
                message: "git cannot check \(commit.words) out: \(added.errors.trimmingCharacters(in: .newlines))",
                remedy: "remove \(folder)")
        }
        try takeVersions(of: commit)
    }

    private func isWorkTree() async throws -> Bool {
        guard access(source, F_OK) == 0 else { return false }
        let asked = try await Git.run(["rev-parse", "--show-toplevel"], in: source)
        guard let resolved = realpath(source, nil) else { return false }
        defer { free(resolved) }
        return asked.isSuccess && asked.output.trimmingCharacters(in: .newlines) == String(cString: resolved)
    }

    /// Where the versions of other packages are not in the repository, those that the package has now.
    private func takeVersions(of commit: PackageCommit) throws {
        guard access(sourcePackage + "/Package.swift", F_OK) == 0 else {
            throw BuildError(
                message: "\(commit.words) has no Package.swift in its folder \"\(repository.prefix)\"",
                remedy: "name a commit that has one")
        }
        let other = sourcePackage + "/Package.resolved"
        if access(ownVersions, F_OK) == 0, access(other, F_OK) != 0 {
            try FileManager.default.copyItem(atPath: ownVersions, toPath: other)
        }
    }

    private var ownVersions: String { package + "/Package.resolved" }

    private var sourcePackage: String { outside.root + package }

    /// - Returns: the packages outside of the repository that the build takes as they are now.
    private func linkOutside() async throws -> [String] {
        let paths = try await outside.link(from: sourcePackage) { folder in
            let dumped = try await swift(
                ["package", "--package-path", folder, "--scratch-path", self.folder + "/manifests", "dump-package"],
                telling: ["LD_PRELOAD": nil], mixesErrors: false)
            // What is wrong with a manifest is told by the build.
            return dumped.isSuccess ? OutsidePackages.local(in: dumped.output) : []
        }
        for path in paths { say("taking the package \(path) as it is now: it is outside of the repository") }
        return paths
    }

    // MARK: The build

    /// - Returns: the folder that the program lies in.
    private func build(_ commit: PackageCommit) async throws -> String {
        let words =
            [
                "build", "--configuration", "release", "--package-path", sourcePackage, "--scratch-path",
                folder + "/build",
            ]
            + options
        // The program then tells it: see BuildDescription.
        let built = try await swift(words + ["--product", product], telling: ["OPBENCH_COMMIT": commit.id])
        guard built.isSuccess else {
            let lines = built.output.split(separator: "\n").suffix(20).joined(separator: "\n")
            throw BuildError(
                message: "\(commit.words) does not build:\n\(lines)\n",
                remedy: """
                    build it by hand in \(sourcePackage); --product names another product than \(product)
                    """)
        }
        // The last line: there may be warnings before it.
        let place = try await swift(words + ["--show-bin-path"])
        guard place.isSuccess else {
            throw BuildError(message: "swift does not say where it builds", remedy: "remove \(folder)")
        }
        return place.output.split(separator: "\n").last.map(String.init) ?? ""
    }

    struct Ended {
        let isSuccess: Bool
        let output: String
    }

    /// In a process group of its own, out of reach of the terminal's Ctrl-C: a cancelled task ends it in order.
    ///
    /// - Parameters:
    ///   - variables: for the package's manifest, beside this process's environment.
    ///   - mixesErrors: whether the output has what went to standard error, too.
    func swift(
        _ arguments: [String], telling variables: [String: String?] = [:], mixesErrors: Bool = true
    ) async throws -> Ended {
        var program = Program("swift", arguments, environment: variables, hasOwnGroup: true)
        // SwiftPM ends its compilers where it is interrupted, not where it is terminated or killed.
        program.signalAtEnd = SIGINT
        program.requestsToEnd = [.init(SIGINT, seconds: 20), .init(SIGTERM, toGroup: true, seconds: 5)]
        let log = try MemoryFile()
        let errors = mixesErrors ? log : try MemoryFile()
        do {
            let ending = try await program.run(output: .memory(log), errors: .memory(errors))
            try Task.checkCancellation()
            return Ended(isSuccess: ending.isSuccess, output: String(decoding: log.contents(), as: UTF8.self))
        } catch let error as LaunchError {
            throw BuildError(message: "swift cannot be run: \(error.reason)", remedy: "put it on PATH")
        }
    }

    /// The program, and what it finds beside itself. In place all at once.
    private func keep(_ built: String, in place: String, made: String) throws {
        let files = FileManager.default
        let part = place + ".part"
        try? files.removeItem(atPath: part)
        try files.createDirectory(atPath: part, withIntermediateDirectories: true)
        // Nothing once it is moved.
        defer { try? files.removeItem(atPath: part) }
        for name in try files.contentsOfDirectory(atPath: built)
        where name == product || name.hasSuffix(".so") || name.hasSuffix(".resources") || name.hasSuffix(".bundle") {
            try files.copyItem(atPath: "\(built)/\(name)", toPath: "\(part)/\(name)")
        }
        guard files.isExecutableFile(atPath: "\(part)/\(product)") else {
            throw BuildError(
                message: "the build has no program \(product)", remedy: "name the executable product by --product")
        }
        try made.write(toFile: "\(part)/\(BuiltCommit.record)", atomically: false, encoding: .utf8)
        try? files.removeItem(atPath: place)
        try files.moveItem(atPath: part, toPath: place)
    }
}

/// Keeps others from building there at the same time.
private struct RefLock {
    private let descriptor: Int32

    init(folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        descriptor = open("\(folder)/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw DiskError(path: "\(folder)/lock", code: errno) }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else { throw DiskError(path: "\(folder)/lock", code: code) }
            throw BuildError(message: "another opbench is building in \(folder)", remedy: "wait until it has ended")
        }
    }

    func release() { close(descriptor) }
}

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
