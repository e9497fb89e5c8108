import ArgumentParser
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// Lists of names separated by commas, for `--backend`, `--between` and `--metric`.
enum NameList {
    static func backends(_ list: String) throws(InputError) -> [BackendID] {
        let known = BackendID.known
        return try names(list, option: "--backend", what: "backend", known: known.map(\.rawValue))
            .map(BackendID.init(rawValue:))
    }

    static func twoBackends(_ list: String, option: String) throws(InputError) -> ExplainedBackends {
        let names = try names(list, option: option, what: "backend", known: BackendID.known.map(\.rawValue))
        guard names.count == 2 else {
            throw InputError(
                file: option,
                message: "\"\(list)\" names \(counted(names.count, "backend"))",
                remedy: "name two different ones, as in \(option) engine,dispatch")
        }
        return ExplainedBackends(base: BackendID(rawValue: names[0]), head: BackendID(rawValue: names[1]))
    }

    static func kinds(_ list: String) throws(InputError) -> Set<SampleKind> {
        let names = try names(
            list, option: "--metric", what: "metric", known: SampleKind.allCases.map(\.rawValue))
        return Set(names.compactMap(SampleKind.init(rawValue:)))
    }

    static func profileKinds(_ list: String) throws(InputError) -> [ProfileKind] {
        let names = try names(
            list, option: "--kind", what: "kind of profile", known: ProfileKind.allCases.map(\.rawValue))
        return ProfileKind.allCases.filter { names.contains($0.rawValue) }
    }

    private static func names(
        _ list: String, option: String, what: String, known: [String]
    ) throws(InputError) -> [String] {
        try names(list, option: option, known: known) { "unknown \(what) \"\($0)\"" }
    }

    /// The distinct names.
    ///
    /// - Parameter message: the message about an unknown name.
    static func names(
        _ list: String, option: String, known: [String], message: (String) -> String
    ) throws(InputError) -> [String] {
        var names: [String] = []
        for part in list.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(part)
            guard known.contains(name) else {
                throw InputError(
                    file: option, message: message(name),
                    remedy: Suggestion.remedy(for: name, among: known, from: "opbench describe"))
            }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}

/// A folder given by an option.
enum FolderArgument {
    /// Refuses an empty name, which would become the root folder once a name is appended.
    static func check(_ folder: String, option: String) throws {
        if folder.isEmpty { throw ValidationError("\(option) is empty; name a folder, `.` for this one.") }
    }
}

/// `--output` of commands that write a profile.
struct ProfileFolderOption: ParsableArguments {
    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            "The folder for the files, which must be new or empty; by default one in profiles/, named after the time.",
            valueName: "dir"), completion: .directory)
    var directory: String?

    func validate() throws { if let directory { try FolderArgument.check(directory, option: "--output") } }

    /// The given folder, or a new name at each call.
    func folder() -> String { directory ?? "profiles/\(RunIdentifier.make())" }
}

/// A value on the command line with a form of its own, which refusals name.
protocol FormedArgument: SendableMetatype {
    /// The allowed form, as in `write …`.
    static var form: String { get }

    init?(argument: String)
}

extension FormedArgument {
    /// Parses an option's value.
    @Sendable static func parse(_ text: String) throws -> Self {
        guard let value = Self(argument: text) else { throw ValidationError("write \(form).") }
        return value
    }
}

/// A time on the command line: `90s`, `10m`, `2h`; a number alone is in seconds.
struct TimeArgument: FormedArgument {
    static let form = "a time above 0, such as 90s, 10m or 2h"

    let seconds: Double

    /// One year; a longer time counts as a mistake.
    private static let limit = 31_536_000.0

    init?(argument: String) {
        let factors: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
        let factor = argument.last.flatMap { factors[$0] }
        guard let number = Double(factor == nil ? argument : String(argument.dropLast())) else { return nil }
        seconds = number * (factor ?? 1)
        guard seconds > 0, seconds <= Self.limit else { return nil }
    }
}

/// A part of a figure on the command line: `2%`, `±0.5%`.
struct PercentArgument: FormedArgument {
    static let form =
        "\(FigureText.write(percents.lowerBound))% to \(FigureText.write(percents.upperBound))%, such as 2%"

    /// `0.02` for `2%`.
    let part: Double

    /// A narrower interval would need more blocks than a run can have; a wider one shows nothing.
    private static let percents = 0.01...100.0

    init?(argument: String) {
        let text = argument.hasPrefix("±") ? argument.dropFirst() : argument[...]
        guard text.last == "%", let number = Double(text.dropLast()), Self.percents.contains(number) else { return nil }
        part = number / 100
    }
}

/// The duration of profiled samples, `--seconds`, and their time limit, `--timeout`.
enum SampleTime {
    static let helpOfTimeout = ArgumentHelp(
        "Time limit of a sample.",
        discussion: """
            By default, \(Int(TimeLimitOfSample.multiple)) times as long as the sample is planned to take, and at least \
            \(Int(TimeLimitOfSample.leastOfProfile)) s.
            """,
        valueName: "seconds")

    static func check(seconds: Double) throws {
        guard seconds > 0, seconds <= 3600 else {
            throw ValidationError("--seconds is \(seconds); allowed are more than 0 and at most 3600.")
        }
    }

    static func check(timeout: Double?) throws {
        let most = TimeLimitOfSample.most
        guard let timeout, !(timeout > 0 && timeout <= most) else { return }
        throw ValidationError("--timeout is \(timeout); allowed are more than 0 and at most \(Int(most)) seconds.")
    }

    static func check(seconds: Double, timeout: Double?) throws {
        try check(seconds: seconds)
        try check(timeout: timeout)
        if let timeout, timeout <= seconds {
            throw ValidationError(
                "--timeout \(timeout) leaves a sample no time for --seconds \(seconds): make it several times as long.")
        }
    }
}

/// `--set NAME=VALUE[,VALUE…]`, as text; the shape's definition determines how a value is parsed.
enum ParameterSettings {
    static func parse(_ settings: [String]) throws(InputError) -> [String: [ParameterValue]] {
        var values: [String: [ParameterValue]] = [:]
        for setting in settings {
            guard let equals = setting.firstIndex(of: "="), equals != setting.startIndex else {
                throw InputError(
                    file: "--set", message: "\"\(setting)\" is not NAME=VALUE",
                    remedy: "for example --set items=1000, or --set items=1000,10000 for two values")
            }
            let name = String(setting[..<equals])
            guard values[name] == nil else {
                throw InputError(
                    file: "--set", path: name, message: "given twice",
                    remedy: "separate the values by commas: --set \(name)=1,2")
            }
            values[name] = setting[setting.index(after: equals)...]
                .split(separator: ",", omittingEmptySubsequences: false)
                .map { .text(String($0)) }
        }
        return values
    }
}
