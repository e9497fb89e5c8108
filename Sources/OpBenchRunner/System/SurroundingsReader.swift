import Foundation
import Glibc
import OpBenchModel
import OperationEngine

/// Reads the facts of `SurroundingFact` that belong to this host. What the system does not report is absent.
enum SurroundingsReader {
    /// - Parameter root: the folder that has `proc` and `sys`; tests pass one.
    static func read(root: String = "") -> Surroundings {
        var facts = Surroundings([
            .kernel: kernel, .cLibrary: cLibrary, .microcode: microcode(root), .hugePages: hugePages(root),
            .quota: CPUQuota.read(root: root)?.words, .addressRandomization: addressRandomization(root),
            .governor: SystemFile.line("\(root)/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            .turbo: hasTurbo(root).map { $0 ? "on" : "off" },
        ])
        for (vulnerability, mitigation) in mitigations(root) { facts[.mitigations, vulnerability] = mitigation }
        return facts
    }

    private static var kernel: String {
        "\(systemName(\.sysname)) \(systemName(\.release)) \(systemName(\.machine))"
    }

    /// A field of uname(2).
    static func systemName<Value>(_ field: KeyPath<utsname, Value>) -> String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: name[keyPath: field]) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
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

    private static func mitigations(_ root: String) -> [String: String] {
        let folder = "\(root)/sys/devices/system/cpu/vulnerabilities"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(into: [:]) { $0[$1] = SystemFile.line("\(folder)/\($1)") }
    }

    private static func hugePages(_ root: String) -> String? {
        let status = SystemFile.text("\(root)/proc/self/status").split(separator: "\n")
        if status.contains(where: { $0.hasPrefix("THP_enabled:") && $0.hasSuffix("0") }) { return "never" }
        // The chosen word is in brackets.
        return SystemFile.line("\(root)/sys/kernel/mm/transparent_hugepage/enabled")?
            .split(separator: "[").last?.split(separator: "]").first.map(String.init)
    }

    /// The bit of personality(2) that disables it for a process and its children.
    private static let noRandomization = 0x0040000

    static func addressRandomization(_ root: String = "") -> String? {
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
    static func hasTurbo(_ root: String = "") -> Bool? {
        if let line = SystemFile.line("\(root)/sys/devices/system/cpu/intel_pstate/no_turbo") { return line == "0" }
        return SystemFile.line("\(root)/sys/devices/system/cpu/cpufreq/boost").map { $0 == "1" }
    }
}

extension CPUQuota {
    fileprivate var words: String { number.map { "\(FigureText.write($0)) processors" } ?? "none" }
}
