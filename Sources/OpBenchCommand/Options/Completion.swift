import ArgumentParser
import Foundation
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// The values that a shell offers: scripts of `opbench completions` ask this program for most of them.
extension CompletionKind {
    static let json = CompletionKind.file(extensions: ["json"])

    /// Backends to measure, separated by commas.
    static let availableBackends = CompletionKind.list { BackendID.available.map(\.rawValue) }
    /// Backends of recorded runs, separated by commas.
    static let backends = CompletionKind.list { BackendID.known.map(\.rawValue) }
    static let backend = CompletionKind.names { _, _ in BackendID.known.map(\.rawValue) }

    /// Kinds of sample, separated by commas.
    static let kinds = CompletionKind.list { SampleKind.allCases.map(\.rawValue) }
    static let profileKinds = CompletionKind.list { ProfileKind.allCases.map(\.rawValue) }

    /// Metrics and ratios, separated by commas.
    static let metrics = CompletionKind.list { BaselineRatio.names + Metric.catalogue.map(\.name) }
    static let columns = CompletionKind.names { _, _ in ColumnTopic.all.flatMap { $0.columns.map(\.name) } }

    static let run = runs(in: "--results")
    static let baseline = CompletionKind.names { words, _ in
        KnownRuns.names(in: KnownRuns.folder(words, "--results") + "/baseline")
    }

    /// Runs and baselines by id; after a slash, folders.
    ///
    /// - Parameter option: the option that names the folder of runs.
    static func runs(in option: String) -> CompletionKind {
        .names { words, prefix in
            if let slash = prefix.lastIndex(of: "/") { return KnownRuns.folders(in: String(prefix[...slash])) }
            let folder = KnownRuns.folder(words, option)
            return KnownRuns.names(in: folder) + KnownRuns.names(in: folder + "/baseline")
        }
    }

    /// - Parameter offered: returns the names for the words of the command line and the part before the cursor.
    private static func names(_ offered: @escaping @Sendable ([String], String) -> [String]) -> CompletionKind {
        .custom { words, _, prefix in
            // Bash expands what it is offered, so a folder's name could be a command.
            let names = offered(words, prefix).filter { $0.utf8.allSatisfy(isPlain) }
            // For zsh, a colon begins a description.
            return CompletionShell.requesting == .zsh ? names.map { $0.replacing(":", with: "\\:") } : names
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "._/:,=+@%-".utf8.contains(byte)
    }

    /// A list separated by commas, continued after the last one.
    private static func list(_ all: @escaping @Sendable () -> [String]) -> CompletionKind {
        names { _, prefix in
            let written = prefix.split(separator: ",", omittingEmptySubsequences: false).dropLast().map(String.init)
            return all().filter { !written.contains($0) }.map { (written + [$0]).joined(separator: ",") }
        }
    }
}

/// The runs that a shell offers. Only looks at names, since a shell waits.
private enum KnownRuns {
    /// The folder of runs on an unfinished command line.
    static func folder(_ words: [String], _ option: String) -> String { words.values(of: option).last ?? "results" }

    static func names(in folder: String) -> [String] {
        entries(folder).filter { FileManager.default.fileExists(atPath: "\(folder)/\($0)/\(SampleRow.fileName)") }
    }

    /// - Parameter path: ends in a slash.
    static func folders(in path: String) -> [String] {
        entries(path).map { path + $0 }.filter { folder in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) && isFolder.boolValue
        }
    }

    private static func entries(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }
}

extension [String] {
    /// The values of an option on a command line.
    func values(of option: String) -> [String] {
        let words = prefix { $0 != "--" }
        return zip(words, words.dropFirst() + [""]).compactMap { word, next in
            if word == option { return next }
            return word.hasPrefix("\(option)=") ? String(word.dropFirst(option.utf8.count + 1)) : nil
        }
    }
}
