import Foundation
import Synchronization
import Testing

/// The folder of the package.
public enum PackageFolder {
    public static let path = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// A program below it; nil if it is not there.
    public static func program(_ place: String) -> String? {
        let program = "\(path)/\(place)"
        return FileManager.default.isExecutableFile(atPath: program) ? program : nil
    }
}

/// Whole texts that the program writes, kept in a file: `Tests/Golden/NAME.txt`, with a section for each case.
///
/// `scripts/test --update-golden` replaces the files by what the program writes now; read the difference afterwards.
/// The caller replaces by a fixed word whatever differs between machines or runs (folders, times). One suite owns a
/// file. Safe to use from any thread.
public struct Golden: Sendable {
    private let path: String

    public init(_ name: String) {
        path = Self.folder + name + ".txt"
    }

    /// Records an issue if the section differs from `text`; in an update, makes `text` the section.
    ///
    /// - Parameters:
    ///   - section: one line, by which a reader knows the case.
    ///   - replacements: what is written instead of each key; the longest key first.
    public func expect(
        _ text: String, _ section: String, replacing replacements: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var text = text
        for (original, word) in replacements.sorted(by: { $0.key.utf8.count > $1.key.utf8.count }) {
            text = text.replacingOccurrences(of: original, with: word)
        }
        text = text.hasSuffix("\n") ? text : text + "\n"
        let problem = Self.files.withLock { files in
            if Self.isUpdate { return Self.update(&files[path, default: [:]], section, text, path) }
            let sections = files[path] ?? Self.read(path)
            files[path] = sections
            return Self.difference(of: text, from: sections[section])
        }
        guard let problem else { return }
        Issue.record(
            "\(problem)\nsection \"\(section)\" of \(path); if the text is meant: scripts/test --update-golden",
            sourceLocation: sourceLocation)
    }

    private static let isUpdate = TestRun.has("golden")
    private static let folder = PackageFolder.path + "/Tests/Golden/"
    /// The beginning of the line with a section's name.
    private static let mark = "==== "

    /// The texts by section, by path: as read, or in an update as written so far.
    private static let files = Mutex<[String: [String: String]]>([:])

    private static func read(_ path: String) -> [String: String] {
        guard let content = try? String(contentsOfFile: path, encoding: .utf8) else { return [:] }
        var texts: [String: String] = [:]
        for part in ("\n" + content).components(separatedBy: "\n" + mark).dropFirst() {
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let text = lines.count == 2 ? String(lines[1]) : ""
            texts[String(lines[0])] = text.hasSuffix("\n") ? text : text + "\n"
        }
        return texts
    }

    /// Writes the file at once, since a test process has no last moment; returns what is wrong with the section.
    private static func update(
        _ sections: inout [String: String], _ section: String, _ text: String, _ path: String
    ) -> String? {
        if let former = sections[section], former != text { return "two texts of one section:\n\(former)\n\(text)" }
        sections[section] = text
        let content = sections.sorted { $0.key < $1.key }.map { mark + $0.key + "\n" + $0.value }.joined(
            separator: "\n")
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try content.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            return "\(error)"
        }
        return nil
    }

    /// The first line that differs.
    private static func difference(of text: String, from kept: String?) -> String? {
        guard let kept else { return "no such section; the text is:\n\(text)" }
        if kept == text { return nil }
        let (old, new) = (kept.components(separatedBy: "\n"), text.components(separatedBy: "\n"))
        let place = zip(old, new).prefix { $0 == $1 }.count
        let lines = [old, new].map { $0.indices.contains(place) ? $0[place] : "(its end)" }
        return "line \(place + 1) was\n\(lines[0])\nand is\n\(lines[1])"
    }
}
