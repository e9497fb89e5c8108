import ArgumentParser

/// The help that `-h` asks for: what a command is for, a few examples, and the options that people use. `--help` prints
/// all.
enum BriefHelp {
    private static let mostExamples = 3
    /// A command with as many options shows them all.
    private static let mostOptions = 12
    /// The options of larger commands that are shown.
    private static let shown: Set = [
        "--backend", "--filter", "--set", "--metric", "--blocks", "--quick", "--precision", "--run-id", "--resume",
        "--output", "--format", "--wide", "--base-ref", "--head-ref", "--max-slowdown", "--help",
    ]

    /// - Parameter words: the arguments without the program's name.
    /// - Returns: nil if they do not ask for it.
    static func text(for words: [String], of root: any ParsableCommand.Type) -> String? {
        guard words.prefix(while: { $0 != "--" }).contains("-h") else { return nil }
        let found = Subcommand(in: words, of: root)
        // The root has no options of its own.
        if found.path.count == 1 { return nil }
        let lines = OpBench.helpMessage(for: found.command).split(separator: "\n", omittingEmptySubsequences: false)
        return shortened(lines) + "\n\n`\(found.path.joined(separator: " ")) --help` prints all.\n"
    }

    /// Help has an overview with examples, the usage, and sections of options. An option begins after two spaces, its
    /// discussion after eight, and other lines of its summary after more.
    private static func shortened(_ lines: [Substring]) -> String {
        let options = lines.filter(isOption)
        let isLarge = options.count > mostOptions
        var kept: [Substring] = []
        var (examples, isInOverview, isKept) = (0, true, true)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("USAGE:") { isInOverview = false }
            if isInOverview {
                let isExample = line.hasPrefix("  ")
                if isExample { examples += 1 }
                if index == 0 || line == "EXAMPLES" || isExample && examples <= mostExamples { kept.append(line) }
                if index == 0 || isExample && examples == mostExamples { kept.append("") }
            } else if line.first != " " {
                isKept = true
                kept.append(line)
            } else {
                let indent = line.prefix { $0 == " " }.count
                if isOption(line) {
                    isKept = !isLarge || line.hasPrefix("  <") || names(of: line).contains { shown.contains($0) }
                }
                if isKept, indent != 8 { kept.append(line) }
            }
        }
        return withoutEmptySections(kept).joined(separator: "\n")
    }

    private static func isOption(_ line: Substring) -> Bool { line.hasPrefix("  -") || line.hasPrefix("  <") }

    private static func names(of option: Substring) -> [String] {
        option.split(separator: " ").prefix { $0.hasPrefix("-") }.map { $0.filter { $0 != "," } }
    }

    private static func withoutEmptySections(_ lines: [Substring]) -> [Substring] {
        var kept: [Substring] = []
        for line in lines.reversed() {
            let isTitle = line.first.map { $0.isUppercase } == true && line.hasSuffix(":")
            if isTitle, kept.last?.isEmpty ?? true { continue }
            if line.isEmpty, kept.last?.isEmpty ?? true { continue }
            kept.append(line)
        }
        return kept.reversed()
    }
}
