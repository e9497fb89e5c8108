import ArgumentParser
// A dispatch source is thread-safe, but its type does not declare it.
@preconcurrency import Dispatch
import OpBenchModel
import OpBenchRunner

/// Two commits to build, instead of two built programs.
struct RefOptions: ParsableArguments {
    @Option(
        name: .customLong("base-ref"),
        help: ArgumentHelp(
            "Build this commit of the package here, and compare with it: any name that git resolves.",
            discussion: "Builds for release in a separate work tree, and keeps the programs in .build/refs.",
            valueName: "ref"))
    var base: String?

    @Option(
        name: .customLong("head-ref"),
        help: ArgumentHelp("With --base-ref, the commit to judge; by default HEAD.", valueName: "ref"))
    var head: String?

    @OptionGroup var build: BuildOptions

    @Flag(
        name: .customLong("skip-equal"),
        help: "With --base-ref, measure nothing if the programs differ only in the commit that they record.")
    var skipsEqual = false

    func validate() throws {
        guard base == nil else { return }
        for (name, isGiven) in [
            ("--head-ref", head != nil), ("--product", build.product != nil),
            ("--build-option", !build.arguments.isEmpty), ("--skip-equal", skipsEqual),
        ] where isGiven {
            throw ValidationError("\(name) needs --base-ref.")
        }
    }

    /// The programs of both commits; nil if none are named. Describes them on standard error.
    ///
    /// - Parameter layouts: the number of layouts in which each is linked.
    func build(layouts: Int) throws -> (base: BuiltCommit, head: BuiltCommit)? {
        try base.map {
            try Self.build(base: $0, head: head, option: "--base-ref", layouts: layouts, build)
        }
    }

    /// The program of the checked-out commit, in as many layouts for each of two sides.
    static func buildCheckedOut(layouts: Int) throws -> (base: BuiltCommit, head: BuiltCommit) {
        try build(base: "HEAD", head: nil, option: "--layouts", layouts: layouts, nil)
    }

    private static func build(
        base: String, head: String?, option: String, layouts: Int, _ options: BuildOptions?
    ) throws -> (base: BuiltCommit, head: BuiltCommit) {
        try CancellableWork.finish {
            let repository = try await PackageRepository.containing(".")
            let baseCommit = try await repository.commit(of: base, option: option)
            let checkedOut = try await repository.commit(of: "HEAD", option: option)
            let headCommit =
                if let head { try await repository.commit(of: head, option: "--head-ref") } else { checkedOut }
            if checkedOut.id == headCommit.id { tellChanges(try await repository.changedFiles(), headCommit) }
            return try await RefBuilds(of: repository, options).programs(
                base: baseCommit, head: headCommit, layouts: layouts)
        }
    }

    private static func tellChanges(_ count: Int, _ head: PackageCommit) {
        if count == 0 { return }
        let files = counted(count, "file differs", plural: "files differ")
        StandardError.say(
            "opbench: warning: \(files) from \(head.words), which is measured: commit changes to measure them")
    }
}

/// The options of building commits.
struct BuildOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The product to build; by default the one with this program's name.", valueName: "name"))
    var product: String?

    @Option(
        name: .customLong("build-option"),
        help: ArgumentHelp("A further argument of swift build. Repeatable.", valueName: "argument"))
    var arguments: [String] = []
}

extension RefBuilds {
    /// Builds that are described on standard error.
    ///
    /// - Parameter options: nil for the product with this program's name, without further arguments.
    init(of repository: PackageRepository, _ options: BuildOptions?) {
        let own = OwnProgram.path?.split(separator: "/").last.map(String.init) ?? "opbench"
        self.init(
            of: repository, product: options?.product ?? own, options: options?.arguments ?? [],
            say: { StandardError.say("opbench: \($0)") }, building: BuildProgress().begin)
    }
}

/// Shows the elapsed time of a build on standard error: every second in one line of a terminal, every half minute in a
/// log. Thread-safe.
struct BuildProgress: Sendable {
    private let isTerminal: Bool
    private let interval: DispatchTimeInterval
    private let write: @Sendable (String) -> Void

    private static let clearLine = "\r\u{1B}[2K"

    /// - Parameters:
    ///   - interval: nil for the default of the kind of output.
    ///   - write: receives the text, line ends and control sequences included.
    init(
        isTerminal: Bool = StandardError.isTerminal, interval: DispatchTimeInterval? = nil,
        write: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.isTerminal = isTerminal
        self.interval = interval ?? .seconds(isTerminal ? 1 : 30)
        self.write = write
    }

    /// - Returns: a function to call at the end, with whether the build succeeded. Nothing is written after that.
    func begin(_ what: String) -> @Sendable (_ isBuilt: Bool) -> Void {
        let name = TerminalText.escaped(what, limit: TerminalText.messageLimit)
        let begun = ContinuousClock.now
        let time = { @Sendable in Quantities.wait(seconds: begun.duration(to: .now) / .seconds(1)) }
        write("opbench: building \(name); this may take minutes\(isTerminal ? "" : "\n")")
        // Serial: on it, a tick is before the end, or never.
        let queue = DispatchQueue(label: "opbench.building")
        let ticking = DispatchSource.makeTimerSource(queue: queue)
        ticking.schedule(deadline: .now() + interval, repeating: interval)
        ticking.setEventHandler { [isTerminal, write] in
            let line = "opbench: \(isTerminal ? "" : "still ")building \(name), \(time())"
            write(isTerminal ? Self.clearLine + line : line + "\n")
        }
        ticking.resume()
        return { [isTerminal, write] isBuilt in
            queue.sync {
                ticking.cancel()
                if isTerminal { write(Self.clearLine) }
                if isBuilt { write("opbench: built \(name) in \(time())\n") }
            }
        }
    }
}
