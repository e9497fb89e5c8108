import Foundation

/// One guard of the engine, broken on purpose: as defined in Tests/Mutations/*.txt.
struct Mutation {
    enum Tier: String {
        /// A step of one of the protocols: the explorer must notice.
        case `protocol`
        /// A promise of the contract: a test must.
        case contract
    }

    /// How the two texts become one that can be switched at run time.
    enum Form: String {
        case statements
        case expression
    }

    let name: String
    let tier: Tier
    let form: Form
    /// Below Sources/OperationEngine.
    let file: String
    /// The contract lines whose tests, or the scenarios which, ought to notice.
    let lines: [String]
    let scenarios: [String]
    /// Occurs once in the file. The part between « and » is what is replaced; all of it if there are none.
    let old: String
    let new: String
}

/// The form of the definitions:
///
/// ```
/// # name-of-the-mutation
/// tier: protocol
/// file: Queue/QueueCore.swift
/// scenarios: drain, drain-limited
/// lines: O3
/// form: expression
/// --- old
/// the exact text, with the part that is replaced between «these»
/// --- new
/// the part that replaces it; may be empty
/// ```
enum MutationReader {
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    static func readAll(in folder: URL) throws -> [Mutation] {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "txt" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        let all = try files.flatMap { try read(String(contentsOf: $0, encoding: .utf8)) }
        for (name, same) in Dictionary(grouping: all, by: \.name) where same.count > 1 {
            throw Mistake(description: "two mutations are called \(name)")
        }
        return all
    }

    static func read(_ text: String) throws -> [Mutation] {
        var all: [Mutation] = []
        var name = ""
        var fields: [String: String] = [:]
        var part = ""
        func finish() throws {
            if !name.isEmpty { all.append(try make(name, fields)) }
            fields = [:]
            part = ""
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("# ") {
                try finish()
                name = String(line.dropFirst(2))
            } else if line == "--- old" || line == "--- new" {
                part = String(line.dropFirst(4))
            } else if !part.isEmpty {
                fields[part] = fields[part].map { $0 + "\n" + line } ?? String(line)
            } else if let colon = line.firstIndex(of: ":"), !name.isEmpty {
                fields[String(line[..<colon])] =
                    line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            } else if !line.isEmpty, !line.hasPrefix("//") {
                throw Mistake(description: "\(name): what is “\(line)”?")
            }
        }
        try finish()
        return all
    }

    private static func make(_ name: String, _ fields: [String: String]) throws -> Mutation {
        let known: Set = ["tier", "file", "form", "lines", "scenarios", "old", "new"]
        if let unknown = fields.keys.first(where: { !known.contains($0) }) {
            throw Mistake(description: "\(name): unknown field “\(unknown)”")
        }
        guard let tier = fields["tier"].flatMap({ Mutation.Tier(rawValue: $0) }), let file = fields["file"],
            let form = Mutation.Form(rawValue: fields["form"] ?? "statements"), let old = fields["old"],
            let new = fields["new"]
        else { throw Mistake(description: "\(name): tier, file, form, old or new is missing or wrong") }
        func list(_ field: String) -> [String] {
            (fields[field] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .newlines) }
        return Mutation(
            name: name, tier: tier, form: form, file: file, lines: list("lines"), scenarios: list("scenarios"),
            old: trimmed(old), new: trimmed(new))
    }
}
