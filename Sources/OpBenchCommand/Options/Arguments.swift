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
        try names(list, option: option, known: known, from: "opbench describe") { "unknown \(what) \"\($0)\"" }
    }

    /// The distinct names.
    ///
    /// - Parameters:
    ///   - command: the command that prints all known names.
    ///   - message: the message about an unknown name.
    static func names(
        _ list: String, option: String, known: [String], from command: String? = nil, message: (String) -> String
    ) throws(InputError) -> [String] {
        let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init).uniqued()
        guard let name = names.first(where: { !known.contains($0) }) else { return names }
        throw InputError(
            file: option, message: message(name),
            remedy: Suggestion.remedy(for: name, among: known, from: command))
    }
}

/// A folder given by an option.
enum FolderArgument {
    /// Refuses an empty name, which would become the root folder once a name is appended.
    static func check(_ folder: String, option: String) throws {
        if folder.isEmpty { throw ValidationError("\(option) is empty; name a folder, `.` for this one.") }
    }
}

/// `--results`: the folder of the runs that a command takes.
struct ResultsOption: ParsableArguments {
    @Option(
        name: .customLong("results"), help: ArgumentHelp("The folder of runs.", valueName: "dir"),
        completion: .directory)
    var folder = "results"

    func validate() throws { try FolderArgument.check(folder, option: "--results") }
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

/// Values with a form of their own, for `transform`. An error names the allowed form; the parser adds option and value.
enum FormedArgument {
    /// A time above 0 in seconds.
    static func seconds(_ text: String) throws -> Double {
        guard let seconds = time(text), seconds > 0 else {
            throw ValidationError("write a time above 0, such as 90s, 10m or 2h.")
        }
        return seconds
    }

    /// A time since a beginning, in nanoseconds.
    static func offset(_ text: String) throws -> Int64 {
        guard let seconds = time(text) else {
            throw ValidationError("write a time from 0, such as 250ms, 10s or 2m.")
        }
        return Int64((seconds * 1e9).rounded())
    }

    private static let units = ["ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600]
    /// One year; a longer time counts as a mistake.
    private static let limit = 31_536_000.0

    /// A number with its unit; without one it is in seconds.
    private static func time(_ text: String) -> Double? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text[number.endIndex...]
        guard let factor = unit.isEmpty ? 1 : units[String(unit)], let value = Double(number) else { return nil }
        let seconds = value * factor
        return seconds <= limit ? seconds : nil
    }

    /// A part of a figure: 0.02 for `2%` or `±2%`.
    static func part(_ text: String) throws -> Double {
        let digits = text.hasPrefix("±") ? text.dropFirst() : text[...]
        guard digits.last == "%", let number = Double(digits.dropLast()), percents.contains(number) else {
            let (least, most) = (FigureText.write(percents.lowerBound), FigureText.write(percents.upperBound))
            throw ValidationError("write \(least)% to \(most)%, such as 2%.")
        }
        return number / 100
    }

    /// A narrower interval would need more blocks than a run can have; a wider one shows nothing.
    private static let percents = 0.01...100.0

    static func processors(_ text: String) throws -> ProcessorSet {
        guard let set = ProcessorSet(text) else {
            throw ValidationError("write numbers and ranges, such as 0-3,8 or 0-14:2.")
        }
        return set
    }
}

/// A number given by an option.
enum NumberArgument {
    /// Refuses one that is not allowed.
    ///
    /// - Parameter words: the allowed ones, after "allowed".
    static func check<Value: Comparable>(
        _ number: Value?, option: String, in allowed: ClosedRange<Value>, _ words: String
    ) throws {
        guard let number, !allowed.contains(number) else { return }
        throw ValidationError("\(option) is \(number); allowed \(words).")
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

    static func check(seconds: Double?) throws {
        try NumberArgument.check(
            seconds, option: "--seconds", in: 0.nextUp...3600, "are more than 0 and at most 3600")
    }

    static func check(timeout: Double?) throws {
        let most = TimeLimitOfSample.most
        try NumberArgument.check(
            timeout, option: "--timeout", in: 0.nextUp...most, "are more than 0 and at most \(Int(most)) seconds")
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
