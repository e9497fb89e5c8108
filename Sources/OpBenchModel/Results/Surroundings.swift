/// A fact about what surrounds the measured code, and changes its figures although the code is the same.
///
/// This list is the only one: `run.json`, comparisons, pages, the history and `opbench describe` derive from it.
public enum SurroundingFact: String, CaseIterable, Sendable {
    case compiler
    case oneTBB = "onetbb"
    case kernel
    case cLibrary = "c_library"
    case libraries
    case microcode
    case mitigations
    case hugePages = "transparent_huge_pages"
    case quota = "cpu_quota"
    case engineWorkers = "engine_workers"
    case addressRandomization = "address_randomization"
    case governor
    case turbo

    /// Two interleaved builds have one host, and may differ in facts of a build.
    public enum Owner: String, Sendable { case host, build }

    public var owner: Owner { [.compiler, .oneTBB, .libraries].contains(self) ? .build : .host }

    public var title: String {
        switch self {
        case .compiler, .kernel, .libraries, .microcode, .mitigations, .governor, .turbo: rawValue
        case .oneTBB: "oneTBB"
        case .cLibrary: "C library"
        case .hugePages: "transparent huge pages"
        case .quota: "CPU quota"
        case .engineWorkers: "engine workers"
        case .addressRandomization: "address randomization"
        }
    }

    /// The value and its source.
    public var meaning: String {
        switch self {
        case .compiler: "The versions of Swift and of the C compiler, recorded when the program was built."
        case .oneTBB: "The version of oneTBB, in a build that has it."
        case .kernel: "The system's name, release and machine: uname(2)."
        case .cLibrary: "The version of the C library that the program runs with: confstr(3)."
        case .libraries:
            "Each library that the program loads: the digest that its linker wrote into it (build ID), or its size and time."
        case .microcode: "The processors' microcode, unless a hypervisor hides it: /proc/cpuinfo."
        case .mitigations:
            "For each vulnerability of processors that the kernel knows, what it does about it: the files in "
                + "/sys/devices/system/cpu/vulnerabilities."
        case .hugePages:
            "`always`, `madvise` or `never`: /sys/kernel/mm/transparent_hugepage/enabled; `never` also if it is off for "
                + "the process, prctl(2)."
        case .quota:
            "The least quota of the process's control groups, version 1 or 2, in processors; `none` without one."
        case .engineWorkers:
            "How many workers the engine keeps running at the run's beginning: as many as the processors that samples run "
                + "on, at most the quota, rounded up; or OPERATION_ENGINE_WORKERS."
        case .addressRandomization:
            "`on`, `without heap` or `off`: /proc/sys/kernel/randomize_va_space, and the process's personality(2)."
        case .governor: "The frequency governor of processor 0: cpufreq in /sys/devices/system/cpu/cpu0."
        case .turbo: "Whether processors may exceed their sustained clock rate, `on` or `off`: intel_pstate or cpufreq."
        }
    }
}

/// The known facts around the code of a run. A fact that the system does not report is absent.
///
/// Thread-safe as a value.
public struct Surroundings: Sendable, Hashable {
    /// The values of each fact by part, such as the vulnerability; the part of a fact with a single value is empty.
    private var values: [SurroundingFact: [String: String]] = [:]

    /// Longer values are cut off, in bytes.
    static let valueLimit = 500
    /// The limits of surroundings that are read from a file: parts of a fact, and bytes of all names and values.
    static let partLimit = 100
    static let sizeLimit = 1 << 15

    public init() {}

    /// - Parameter values: nil for a fact that is unknown.
    public init(_ values: [SurroundingFact: String?]) {
        for (fact, value) in values { self[fact] = value }
    }

    public subscript(fact: SurroundingFact, part: String = "") -> String? {
        get { values[fact]?[part] }
        set {
            values[fact, default: [:]][part] = newValue.map(Self.shortened)
            if values[fact] == [:] { values[fact] = nil }
        }
    }

    public var isEmpty: Bool { values.isEmpty }

    /// Without control characters, and no longer than the limit.
    private static func shortened(_ value: String) -> String {
        let plain = value.unicodeScalars.filter { $0.properties.generalCategory != .control }
        guard String(plain).utf8.count > valueLimit else { return String(plain) }
        var (text, size) = ("", 0)
        for scalar in plain {
            size += UTF8.width(scalar)
            if size > valueLimit - 3 { break }
            text.unicodeScalars.append(scalar)
        }
        return text + "…"
    }

    private var size: Int {
        values.values.reduce(0) { size, parts in
            parts.reduce(size) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        }
    }

    /// The fact in one line; nil if it is unknown.
    public func text(of fact: SurroundingFact) -> String? {
        guard let parts = values[fact] else { return nil }
        return parts.sorted { $0.key < $1.key }.map { $0.key.isEmpty ? $0.value : "\($0.key): \($0.value)" }
            .joined(separator: "; ")
    }

    /// The facts of the host with those of another build.
    public func replacingBuild(by other: Surroundings) -> Surroundings {
        var changed = self
        for fact in SurroundingFact.allCases where fact.owner == .build { changed.values[fact] = other.values[fact] }
        return changed
    }

    /// The facts of several machines: values that differ have ` + ` between. Empty if that is too much for a file.
    public static func joined(_ all: [Surroundings]) -> Surroundings {
        var result = Surroundings()
        for fact in SurroundingFact.allCases {
            for part in Set(all.flatMap { $0.values[fact]?.keys.map(\.self) ?? [] }) {
                var distinct: [String] = []
                for value in all.compactMap({ $0[fact, part] }) where !distinct.contains(value) {
                    distinct.append(value)
                }
                result[fact, part] = distinct.joined(separator: " + ")
            }
        }
        return result.size <= sizeLimit ? result : Surroundings()
    }
}

/// A fact that has one value on one side, or before, and another on the other side, or after.
public struct SurroundingChange: Sendable, Hashable {
    public let fact: SurroundingFact
    /// Empty for a fact with a single value.
    public let part: String
    public let before: String
    public let after: String

    fileprivate var words: String { "\(part.isEmpty ? "" : part + ": ")\(before) → \(after)" }
}

extension Surroundings {
    /// The facts that both know and that differ, in the order of the catalogue.
    public func changes(to other: Surroundings) -> [SurroundingChange] {
        SurroundingFact.allCases.flatMap { fact in
            (values[fact] ?? [:]).sorted { $0.key < $1.key }.compactMap { part, before in
                guard let after = other[fact, part], after != before else { return nil }
                return SurroundingChange(fact: fact, part: part, before: before, after: after)
            }
        }
    }

    /// Takes over what the other knows, and keeps the rest.
    public mutating func update(by other: Surroundings) {
        values.merge(other.values) { $0.merging($1) { $1 } }
    }
}

extension [SurroundingChange] {
    private static var mostParts: Int { 3 }

    /// A line for each fact: `compiler: A → B`.
    public var lines: [String] {
        facts.map { fact in
            let own = filter { $0.fact == fact }
            let more = own.count - Self.mostParts
            return "\(fact.title): " + own.prefix(Self.mostParts).map(\.words).joined(separator: ", ")
                + (more > 0 ? ", and \(more) more" : "")
        }
    }

    public var titles: [String] { facts.map(\.title) }

    /// The changed facts, in the order of the catalogue.
    private var facts: [SurroundingFact] {
        SurroundingFact.allCases.filter { fact in contains { $0.fact == fact } }
    }
}

// MARK: - JSON

extension Surroundings: Codable {
    /// A string, or an object with a string for each part.
    private enum Value: Codable {
        case text(String)
        case parts([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .parts(try container.decode([String: String].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .parts(let parts): try container.encode(parts)
            }
        }
    }

    /// Facts that this opbench does not know are left out.
    public init(from decoder: any Decoder) throws {
        for (key, value) in try [String: Value](from: decoder) {
            guard let fact = SurroundingFact(rawValue: key) else { continue }
            switch value {
            case .text(let text): self[fact] = text
            case .parts(let parts):
                for (part, text) in parts where !part.isEmpty { self[fact, part] = text }
            }
        }
        guard size <= Self.sizeLimit, values.values.allSatisfy({ $0.count <= Self.partLimit }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "more than a system reports"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        let all = values.map { fact, parts in (fact.rawValue, parts[""].map(Value.text) ?? .parts(parts)) }
        try Dictionary(uniqueKeysWithValues: all).encode(to: encoder)
    }
}
