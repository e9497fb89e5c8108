import Foundation
import Glibc
import OpBenchLaunch
import OpBenchModel

/// Builds commits of a package, in a separate work tree, and keeps the programs.
///
/// All files are in `.build/refs` of the package:
/// - `tree`: mirrors `/`. It holds a git work tree at the repository's own path, which moves from commit to commit, and
///   links to the package's dependencies outside the repository;
/// - `git`: that work tree's own files, `HEAD` and index. They are not among the repository's work trees, so nothing in
///   the repository changes, however a call ends;
/// - `build`: SwiftPM's scratch folder, so that the second commit rebuilds only the differences;
/// - `programs/<commit>-<digest>`: the programs, with a record of compiler and options. They are moved there when
///   complete, so that an interrupted build leaves nothing there. `…-layout<seed>`: the same, linked in another layout.
///
/// LLD links all of them, since other linkers cannot shuffle sections; it is part of Swift's toolchains. The same linker
/// for programs without layouts keeps their objects: SwiftPM compiles again for another linker.
///
/// Removing the folder is safe.
public struct RefBuilds: Sendable {
    let repository: PackageRepository
    let product: String
    /// Arguments of `swift build` besides configuration, product and folders.
    private let options: [String]
    let folder: String
    private let say: @Sendable (String) -> Void
    private let building: Building

    /// Called with a description when a build begins; the result is called at its end, with whether it succeeded.
    public typealias Building = @Sendable (_ words: String) -> @Sendable (_ isBuilt: Bool) -> Void

    /// - Parameters:
    ///   - product: the name of the executable product.
    ///   - options: further arguments of `swift build`.
    ///   - say: receives one-line messages.
    ///   - building: receives the beginning and end of builds.
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
    /// - Parameter layouts: the number of layouts in which each is linked, besides the linker's own.
    /// - Throws: `InputError` if the head has no such product. `NoBaseline` if the base has none, before anything is
    ///   built, or if the base's program is not an opbench. `BuildError` if a build fails. `CancellationError` if the
    ///   task is cancelled.
    ///
    /// Programs built with packages from outside the repository are rebuilt if those packages have changed: if they are
    /// at other commits, or have uncommitted changes.
    public func programs(
        base: PackageCommit, head: PackageCommit, layouts: Int = 0
    ) async throws -> (base: BuiltCommit, head: BuiltCommit) {
        let lock = try RefLock(folder: folder)
        defer { lock.release() }
        let made = try await madeBy()
        try await checkProducts(
            base: try await isKept(place(of: base, made), made) ? nil : base,
            head: try await isKept(place(of: head, made), made) ? nil : head)
        let seeds = ProgramLayout.seeds(layouts)
        // A commit that is both sides is built once.
        for commit in try await inOrderOfWork(base.id == head.id ? [head] : [base, head]) {
            let ofSides = (commit.id == base.id ? seeds.base : []) + (commit.id == head.id ? seeds.head : [])
            try await link(commit, layouts: ofSides, made)
        }
        let built = (
            base: program(of: base, layouts: seeds.base, made), head: program(of: head, layouts: seeds.head, made)
        )
        // If the head's program is not an opbench, the caller's request to it fails.
        if try await BuildFacts.isOpBench(built.head.program), try await !BuildFacts.isOpBench(built.base.program) {
            throw NoBaseline(base: base, reason: "has a program \(product) that cannot take samples for this opbench")
        }
        return built
    }

    /// Makes the programs of a commit that are not kept from before: compiles once, and links every layout.
    private func link(_ commit: PackageCommit, layouts: [Int], _ made: String) async throws {
        var missing: [Int?] = []
        for seed in [nil] + layouts where try await !isKept(place(of: commit, made, layout: seed), made) {
            missing.append(seed)
        }
        guard !missing.isEmpty else {
            return say("\(commit.words) is already built, in \(place(of: commit, made))")
        }
        let end = building(commit.words)
        var isBuilt = false
        defer { end(isBuilt) }
        try await checkOut(commit)
        let outside = try await linkOutside()
        // Before the build, since the packages may change during it.
        let states = try await states(of: outside)
        for seed in missing {
            try keep(
                try await build(commit, layout: seed), of: commit, in: place(of: commit, made, layout: seed),
                made: made + Self.separator + states)
        }
        isBuilt = true
    }

    private func program(of commit: PackageCommit, layouts: [Int], _ made: String) -> BuiltCommit {
        BuiltCommit(
            commit: commit, folder: place(of: commit, made), product: product,
            layouts: layouts.map {
                ProgramLayout(seed: $0, path: "\(place(of: commit, made, layout: $0))/\(product)")
            })
    }

    private func place(of commit: PackageCommit, _ made: String, layout: Int? = nil) -> String {
        "\(folder)/programs/\(commit.id)-\(SHA256.hexadecimal(of: Array(made.utf8)).prefix(12))"
            + (layout.map { "-layout\($0)" } ?? "")
    }

    /// Puts the work tree's current commit first, because it has the least left to build.
    private func inOrderOfWork(_ commits: [PackageCommit]) async throws -> [PackageCommit] {
        guard try await isWorkTree() else { return commits }
        let asked = try await Git.run(["rev-parse", "HEAD"], in: source)
        let present = asked.text.trimmingCharacters(in: .newlines)
        return commits.filter { $0.id == present } + commits.filter { $0.id != present }
    }

    /// The conditions under which a kept program equals the one that would be built now.
    private func madeBy() async throws -> String {
        let compiler = try await swift(["--version"])
        guard compiler.isSuccess else { throw BuildError(message: "swift cannot be run", remedy: "put it on PATH") }
        let versions = (try? String(contentsOfFile: ownVersions, encoding: .utf8)) ?? ""
        // The same rule as in Package.swift.
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

    /// One line for each package: its commit, if it has no other changes.
    private func states(of packages: [String]) async throws -> String {
        var lines = ""
        for path in packages {
            let head = try await Git.run(["rev-parse", "HEAD"], in: path)
            let changes = try await Git.run(
                ["status", "--porcelain", "--", "."], in: path, seconds: Git.secondsOfStatus)
            let isCommit = head.isSuccess && changes.isSuccess && changes.text.isEmpty
            lines += path + (isCommit ? "\t" + head.text : Self.changing + "\n")
        }
        return lines
    }

    // MARK: The work tree

    private var outside: OutsidePackages {
        // The prefix ends in a slash, and the package's path has one before it, so both parts have the same length.
        let path = package.utf8.dropLast(repository.prefix.utf8.count)
        return OutsidePackages(root: folder + "/tree", repository: String(decoding: path, as: UTF8.self))
    }

    private var package: String { repository.package }

    private var source: String { outside.tree }

    private func checkOut(_ commit: PackageCommit) async throws {
        if try await isWorkTree() {
            // A lock that an interrupted call left; no other process works here.
            try? FileManager.default.removeItem(atPath: ownGit + "/index.lock")
            if try await move(to: commit).isSuccess { return try takeVersions(of: commit) }
        }
        try await makeWorkTree(at: commit)
        let moved = try await move(to: commit)
        guard moved.isSuccess else {
            throw BuildError(
                message: "git cannot check out \(commit.words): \(moved.errors.trimmingCharacters(in: .newlines))",
                remedy: "remove \(folder)")
        }
        try takeVersions(of: commit)
    }

    private func move(to commit: PackageCommit) async throws -> Program.Printed {
        let moved = try await Git.run(
            ["checkout", "--quiet", "--detach", "--force", commit.id], in: source, seconds: nil)
        guard moved.isSuccess else { return moved }
        // Removes files of a build and older versions of other packages, which are not part of the commit.
        return try await Git.run(["clean", "-ffdxq"], in: source, seconds: nil)
    }

    /// Makes an empty work tree as `git worktree` would, except for its entry in the repository.
    private func makeWorkTree(at commit: PackageCommit) async throws {
        let shared = try await Git.run(["rev-parse", "--git-common-dir"], in: package)
        let files = FileManager.default
        for place in [source, ownGit] {
            try? files.removeItem(atPath: place)
            try files.createDirectory(atPath: place, withIntermediateDirectories: true)
        }
        let path = URL(
            filePath: shared.text.trimmingCharacters(in: .newlines), relativeTo: URL(filePath: package + "/")
        ).path
        for (text, file) in [
            (path, ownGit + "/commondir"), (commit.id, ownGit + "/HEAD"), ("gitdir: \(ownGit)", source + "/.git"),
        ] { try (text + "\n").write(toFile: file, atomically: false, encoding: .utf8) }
    }

    private var ownGit: String { folder + "/git" }

    private func isWorkTree() async throws -> Bool {
        guard access(source, F_OK) == 0, let resolved = realpath(ownGit, nil) else { return false }
        defer { free(resolved) }
        let asked = try await Git.run(["rev-parse", "--absolute-git-dir"], in: source)
        return asked.isSuccess && asked.text.trimmingCharacters(in: .newlines) == String(cString: resolved)
    }

    /// Copies the package's current versions of other packages if the commit has no `Package.resolved`.
    private func takeVersions(of commit: PackageCommit) throws {
        guard access(sourcePackage + "/Package.swift", F_OK) == 0 else {
            throw BuildError(
                message: "\(commit.words) has no Package.swift in its folder \"\(repository.prefix)\"",
                remedy: "name a commit that has one", commit: commit)
        }
        let other = sourcePackage + "/Package.resolved"
        if access(ownVersions, F_OK) == 0, access(other, F_OK) != 0 {
            try FileManager.default.copyItem(atPath: ownVersions, toPath: other)
        }
    }

    private var ownVersions: String { package + "/Package.resolved" }

    private var sourcePackage: String { outside.root + package }

    /// - Returns: the packages outside the repository, which the build uses in their current state.
    private func linkOutside() async throws -> [String] {
        let paths = try await outside.link(from: sourcePackage) { folder in
            // A broken manifest makes the build fail, which reports it.
            try await manifest(of: folder).map(OutsidePackages.local) ?? []
        }
        for path in paths { say("using the current state of package \(path), which is outside the repository") }
        return paths
    }

    // MARK: The build

    /// - Parameter layout: nil for the linker's own.
    /// - Returns: the folder of the program.
    private func build(_ commit: PackageCommit, layout: Int?) async throws -> String {
        let words =
            [
                "build", "--configuration", "release", "--package-path", sourcePackage, "--scratch-path",
                folder + "/build", "-Xswiftc", "-use-ld=lld",
            ]
            + options + (layout.map(ProgramLayout.arguments) ?? []).flatMap { ["-Xlinker", $0] }
        // The program records it, see BuildDescription.
        let built = try await swift(
            words + ["--product", product], setting: ["OPBENCH_COMMIT": commit.id], seconds: nil)
        guard built.isSuccess else {
            let lines = built.output.split(separator: "\n").suffix(20).joined(separator: "\n")
            throw BuildError(
                message: "\(commit.words) does not build:\n\(lines)\n",
                remedy: """
                    build it by hand in \(sourcePackage); --product names another product than \(product)
                    """,
                commit: commit)
        }
        // The last line: warnings may precede it.
        let place = try await swift(words + ["--show-bin-path"])
        guard place.isSuccess else {
            throw BuildError(message: "swift does not report its build folder", remedy: "remove \(folder)")
        }
        return place.output.split(separator: "\n").last.map(String.init) ?? ""
    }

    /// The time for a question to swift, in seconds: SwiftPM may compile a manifest, and wait for another one.
    private static let secondsToAnswer = 600.0

    /// Runs swift in a separate process group, out of reach of the terminal's Ctrl-C; a cancelled task ends it
    /// cleanly.
    ///
    /// - Parameters:
    ///   - variables: variables for the package's manifest, in addition to this process's environment.
    ///   - mixesErrors: whether the output includes standard error.
    ///   - seconds: the time limit; nil for a build, which takes as long as it needs.
    func swift(
        _ arguments: [String], setting variables: [String: String?] = [:], mixesErrors: Bool = true,
        seconds: Double? = secondsToAnswer
    ) async throws -> (isSuccess: Bool, output: String) {
        var program = Program("swift", arguments, environment: variables, hasOwnGroup: true)
        // SwiftPM ends its compilers when interrupted, but not when terminated or killed.
        program.signalAtEnd = SIGINT
        program.requestsToEnd = [.init(SIGINT, seconds: 20), .init(SIGTERM, toGroup: true, seconds: 5)]
        let log = try MemoryFile()
        let errors = mixesErrors ? log : try MemoryFile()
        do {
            let ending = try await program.run(output: .memory(log), errors: .memory(errors), seconds: seconds)
            try Task.checkCancellation()
            if ending == .timedOut, let seconds {
                throw BuildError(
                    message:
                        "swift \(arguments.joined(separator: " ")) gave no answer in \(FigureText.write(seconds)) s",
                    remedy: "run it by hand to see why")
            }
            return (ending.isSuccess, String(decoding: log.contents(), as: UTF8.self))
        } catch let error as LaunchError {
            throw BuildError(message: "swift cannot be run: \(error.reason)", remedy: "put it on PATH")
        }
    }

    /// Moves the program and the files that it needs into place, all at once.
    private func keep(_ built: String, of commit: PackageCommit, in place: String, made: String) throws {
        let files = FileManager.default
        let part = place + ".part"
        try? files.removeItem(atPath: part)
        try files.createDirectory(atPath: part, withIntermediateDirectories: true)
        // Does nothing after the move.
        defer { try? files.removeItem(atPath: part) }
        for name in try files.contentsOfDirectory(atPath: built)
        where name == product || name.hasSuffix(".so") || name.hasSuffix(".resources") || name.hasSuffix(".bundle") {
            try files.copyItem(atPath: "\(built)/\(name)", toPath: "\(part)/\(name)")
        }
        guard files.isExecutableFile(atPath: "\(part)/\(product)") else {
            throw BuildError(
                message: "the build has no program \(product)", remedy: "name the executable product with --product",
                commit: commit)
        }
        try made.write(toFile: "\(part)/\(BuiltCommit.record)", atomically: false, encoding: .utf8)
        try? files.removeItem(atPath: place)
        try files.moveItem(atPath: part, toPath: place)
    }
}

/// Keeps other processes from building in the folder at the same time.
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
    /// Checks that both commits have the product, before building either.
    ///
    /// - Parameters:
    ///   - base: nil if its program is already there.
    ///   - head: nil if its program is already there.
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
    /// cannot be read; then the build finds out.
    private func executablesWithoutProduct(_ commit: PackageCommit) async throws -> [String]? {
        guard let names = try await executables(of: commit), !names.contains(product) else { return nil }
        return names.sorted()
    }

    /// Reads only the manifest, in a folder without the sources, which may be many; the work tree keeps its commit.
    private func executables(of commit: PackageCommit) async throws -> Set<String>? {
        let within = repository.prefix.isEmpty ? [] : [repository.prefix]
        let listed = try await Git.run(
            ["ls-tree", "-z", "--name-only", "--full-tree", commit.id] + within, in: repository.package)
        guard listed.isSuccess else { return nil }
        let names = listed.text.split(separator: "\0").map {
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
            let blob = try await Git.run(
                ["cat-file", "blob", "\(commit.id):\(repository.prefix)\(name)"], in: repository.package)
            guard blob.isSuccess else { return nil }
            try blob.text.write(toFile: "\(place)/\(name)", atomically: false, encoding: .utf8)
        }
        return try await manifest(of: place).flatMap { PackageExecutables(manifest: $0)?.names }
    }

    /// The manifest of the package in a folder, as `swift package dump-package` prints it; nil if that fails.
    private func manifest(of place: String) async throws -> String? {
        let dumped = try await swift(
            ["package", "--package-path", place, "--scratch-path", folder + "/manifests", "dump-package"],
            setting: ["LD_PRELOAD": nil], mixesErrors: false)
        return dumped.isSuccess ? dumped.output : nil
    }
}
