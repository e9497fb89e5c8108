import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel
import OperationEngine

/// The machine and the build, as recorded in `run.json`; what else changes figures is in `surroundings`.
public struct Host: Codable, Sendable, Equatable {
    /// The machine's name; the names of all in a merged run. Nil in older runs.
    var name: String?
    var cpu: String
    var cores: Int
    var memoryBytes: Int
    /// Resolution of the clock behind all figures; nil in runs that were recorded without it.
    var clockResolutionNanoseconds: Double?
    /// Machines of one class are comparable: same processor, number of cores and kernel series, and same part of the
    /// cores if samples run on only some.
    var hostClass: String
    /// The processors that samples run on; nil in runs that were recorded without it.
    var processors: ProcessorFacts?
    var allocator: String
    /// `debug` or `release`.
    var configuration: String
    var git: GitFacts?
    /// Variables that change the costs of any program, see `SampleEnvironment`; nil in runs that were recorded without
    /// them.
    var environment: [String: String]?
    var surroundings: Surroundings

    enum CodingKeys: String, CodingKey {
        case name, cpu, cores
        case memoryBytes = "memory_bytes"
        case clockResolutionNanoseconds = "clock_resolution_ns"
        case hostClass = "host_class"
        case processors, allocator, configuration, git, environment, surroundings
    }

    /// Reads this host, without the commit.
    ///
    /// - Parameters:
    ///   - name: the machine's name.
    ///   - processors: the processors that samples are pinned to; nil for all that this process may use.
    public static func read(as name: String = ownName, on processors: ProcessorSet? = nil) -> Host {
        let machine = ProcessorLayout.here
        let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        var surroundings = Surroundings.read().replacingBuild(by: BuildDescription.own.surroundings)
        surroundings[.engineWorkers] = "\(Processors.workers(on: (processors ?? machine.allowed).count))"
        let series = systemName(\.release).split(separator: ".").prefix(2).joined(separator: ".")
        return Host(
            name: name, cpu: cpuModel, cores: cores,
            memoryBytes: sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)),
            clockResolutionNanoseconds: Double(MonotonicClock.resolution()),
            hostClass: "\(cpuModel) x\(cores) Linux \(series)"
                + ProcessorFacts.restriction(to: processors, on: machine),
            processors: ProcessorFacts(of: processors ?? machine.allowed, on: machine), allocator: Allocator.name,
            configuration: BuildDescription.own.configuration, environment: SampleEnvironment.found(),
            surroundings: surroundings)
    }

    /// The hosts of the parts of one run as one: texts that differ have ` + ` between, the rest is the first one's.
    static func joined(_ hosts: [Host]) -> Host {
        func joined(_ field: (Host) -> String) -> String {
            var values: [String] = []
            for value in hosts.map(field) where !values.contains(value) { values.append(value) }
            return values.joined(separator: " + ")
        }
        var host = hosts[0]
        host.name = joined { $0.name ?? "" }
        host.hostClass = joined(\.hostClass)
        host.allocator = joined(\.allocator)
        host.configuration = joined(\.configuration)
        host.surroundings = .joined(hosts.map(\.surroundings))
        host.cpu = joined(\.cpu)
        return host
    }

    /// The variables that samples inherit, on one line.
    var inheritedEnvironment: String {
        SampleEnvironment.words((environment ?? [:]).filter { $0.key != SampleEnvironment.allocatorOptions })
    }

    /// The facts around a program's code on this host; without one, only the host's own.
    func around(executable: BuildFacts?) -> Surroundings {
        surroundings.replacingBuild(by: executable?.description.surroundings ?? Surroundings())
    }

    public var kind: HostKind {
        HostKind(hostClass: hostClass, allocator: allocator, configuration: configuration)
    }

    private static let cpuModel: String = {
        let line = SystemFile.text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
        guard let value = line?.split(separator: ":", maxSplits: 1).last else { return systemName(\.machine) }
        return value.split(separator: " ").joined(separator: " ")
    }()

    /// A field of uname(2).
    fileprivate static func systemName<Value>(_ field: KeyPath<utsname, Value>) -> String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: name[keyPath: field]) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

// MARK: - The name

extension Host {
    /// The variable that names the machine; the host name in a container usually names the container.
    private static let nameVariable = "OPBENCH_HOST"
    private static let nameLimit = 100

    /// This machine's name in rows: `OPBENCH_HOST`, or else its host name. Characters that a file's name cannot have
    /// become dashes; `checkName` refuses them in a user's name.
    public static let ownName: String = {
        let name = getenv(nameVariable).map { String(cString: $0) } ?? systemName(\.nodename)
        let plain = name.utf8.prefix(nameLimit).map { isAllowed($0) ? $0 : UInt8(ascii: "-") }
        return plain.isEmpty ? "unknown" : String(decoding: plain, as: UTF8.self)
    }()

    /// - Parameter name: the one that the user set.
    /// - Throws: `InputError` if it is invalid.
    static func checkName(_ name: String? = getenv(nameVariable).map { String(cString: $0) }) throws(InputError) {
        guard let name, name.isEmpty || name.utf8.count > nameLimit || !name.utf8.allSatisfy(isAllowed) else { return }
        throw InputError(
            file: nameVariable, message: "\(JSONText.excerpt(name)) is not a machine name",
            remedy: "write 1 to \(nameLimit) of the characters a–z, A–Z, 0–9, `.`, `_` and `-`")
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { byte.isASCIILetterOrDigit || "._-".utf8.contains(byte) }
}

// MARK: - Surroundings

extension Surroundings {
    /// The facts that belong to this host. What the system does not report is absent.
    ///
    /// - Parameter root: the folder that has `proc` and `sys`; tests pass one.
    static func read(root: String = "") -> Surroundings {
        var facts = Surroundings([
            .kernel: "\(Host.systemName(\.sysname)) \(Host.systemName(\.release)) \(Host.systemName(\.machine))",
            .cLibrary: cLibrary, .microcode: microcode(root), .hugePages: hugePages(root),
            .quota: CPUQuota.read(root: root)?.words, .addressRandomization: addressRandomization(root),
            .governor: SystemFile.line("\(root)/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            .turbo: hasTurbo(root).map { $0 ? "on" : "off" },
        ])
        let folder = "\(root)/sys/devices/system/cpu/vulnerabilities"
        for vulnerability in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            facts[.mitigations, vulnerability] = SystemFile.line("\(folder)/\(vulnerability)")
        }
        return facts
    }

    /// `glibc 2.36`
    private static var cLibrary: String? {
        var text = [CChar](repeating: 0, count: 100)
        guard confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count) > 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// A hypervisor that hides the version sets all its bits.
    private static func microcode(_ root: String) -> String? {
        var versions: [Substring] = []
        for line in SystemFile.text("\(root)/proc/cpuinfo").split(separator: "\n") where line.hasPrefix("microcode") {
            let version = line.split(separator: ":").last?.drop { $0 == " " } ?? ""
            if !versions.contains(version), version != "0xffffffff" { versions.append(version) }
        }
        return versions.isEmpty ? nil : versions.joined(separator: " + ")
    }

    private static func hugePages(_ root: String) -> String? {
        if SystemFile.number("THP_enabled", in: SystemFile.text("\(root)/proc/self/status")) == 0 { return "never" }
        // The chosen word is in brackets.
        return SystemFile.line("\(root)/sys/kernel/mm/transparent_hugepage/enabled")?
            .split(separator: "[").last?.split(separator: "]").first.map(String.init)
    }

    /// The bit of personality(2) that disables it for a process and its children.
    private static let noRandomization = 0x0040000

    private static func addressRandomization(_ root: String) -> String? {
        if let text = SystemFile.line("\(root)/proc/self/personality"), let bits = Int(text, radix: 16),
            bits & noRandomization != 0
        {
            return "off"
        }
        return switch SystemFile.line("\(root)/proc/sys/kernel/randomize_va_space") {
        case "0": "off"
        case "1": "without heap"
        case "2": "on"
        default: nil
        }
    }

    /// Whether processors may temporarily exceed their sustained clock rate. intel_pstate inverts the setting of the
    /// other drivers.
    private static func hasTurbo(_ root: String) -> Bool? {
        if let line = SystemFile.line("\(root)/sys/devices/system/cpu/intel_pstate/no_turbo") { return line == "0" }
        return SystemFile.line("\(root)/sys/devices/system/cpu/cpufreq/boost").map { $0 == "1" }
    }
}

extension CPUQuota {
    fileprivate var words: String { number.map { "\(FigureText.write($0)) processors" } ?? "none" }
}
