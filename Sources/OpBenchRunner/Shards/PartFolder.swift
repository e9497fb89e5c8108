import Foundation
import Glibc
import OpBenchModel

/// The contents of `part.json`: the sweep and shard of a part, and the digests of its files. It is written last, so it
/// proves that the part is finished, and reveals files that were changed, torn or lost since.
struct PartSeal: Codable, Sendable, Equatable {
    struct File: Codable, Sendable, Equatable {
        var bytes: Int
        var sha256: String
    }

    static let fileName = "part.json"
    /// The files that every part has.
    static let required = [SampleRow.fileName, HistogramRow.fileName, RunFacts.fileName]

    var sweepSHA256: String
    var shard: Shard
    /// The machine that measured it.
    var host: String
    /// The files by name.
    var files: [String: File]

    enum CodingKeys: String, CodingKey {
        case sweepSHA256 = "sweep_sha256"
        case shard, host, files
    }

    /// Seals the files in their current state.
    ///
    /// - Throws: `InputError` if a file cannot be read.
    init(sweepSHA256: String, shard: Shard, host: String, sealing names: [String], in folder: String)
        throws(InputError)
    {
        (self.sweepSHA256, self.shard, self.host, files) = (sweepSHA256, shard, host, [:])
        for name in names { files[name] = try Self.digest(of: name, in: folder) }
    }

    private static func digest(of name: String, in folder: String) throws(InputError) -> File {
        let source = try ReadFile("\(folder)/\(name)", limit: .max)
        var (digest, count) = (SHA256(), 0)
        while true {
            let part = try source.next()
            if part.isEmpty { return File(bytes: count, sha256: digest.hexadecimal) }
            digest.add(part)
            count += part.count
        }
    }

    /// Reads the seal of a part's folder.
    ///
    /// - Throws: `InputError` if it is missing or malformed, or lacks a required file.
    init(in folder: String) throws(InputError) {
        let file = "\(folder)/\(Self.fileName)"
        let text: String
        do {
            text = try JSONDocument.text(of: file, limit: 1 << 20)
        } catch {
            throw InputError(
                file: folder, message: "this is not a finished part of a sweep: \(Self.fileName): \(error.message)",
                remedy: "name a folder that `opbench run --shard` has finished; if this was one, remove it and run "
                    + "its shard again")
        }
        self = try Self.decode(text, file: file)
    }

    /// Decodes a text that `JSONDocument` has checked.
    static func decode(_ text: String, file: String) throws(InputError) -> PartSeal {
        let seal: PartSeal
        do {
            seal = try JSONDecoder().decode(PartSeal.self, from: Data(text.utf8))
        } catch {
            throw InputError(
                file: file, path: JSONDocument.path(of: error), message: "this is not the description of a part",
                remedy: "restore the file")
        }
        // The files must be in the folder itself; a path could lead out of it.
        let isInFolder = seal.files.keys.allSatisfy { !["", ".", ".."].contains($0) && !$0.utf8.contains(47) }
        guard isInFolder, required.allSatisfy({ seal.files[$0] != nil }) else {
            throw InputError(
                file: file, path: "$.files", message: "these are not the files of a part", remedy: "restore the file")
        }
        return seal
    }

    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        }
    }

    /// Checks the files against their digests.
    ///
    /// - Throws: `InputErrors` with every file that differs.
    func check(in folder: String) throws(InputErrors) {
        let mistakes = Mistakes()
        for (name, sealed) in files.sorted(by: { $0.key < $1.key }) {
            let found = mistakes.keepFirst { () throws(InputError) in try Self.digest(of: name, in: folder) }
            guard let found, found != sealed else { continue }
            mistakes.note(
                InputError(
                    file: "\(folder)/\(name)",
                    message: "the file does not match its digest in \(Self.fileName): it was changed or damaged",
                    remedy: "restore it, or remove the part and run its shard \(shard) again"))
        }
        try mistakes.check()
    }
}

/// The place of a sweep's part: a hidden folder of this machine's own while it is measured, and a folder with the
/// part's name when it is finished.
///
/// A single rename makes the name appear when all files and their digests are on disk. A machine that dies earlier
/// leaves no part, and two machines that measure the same part never write into each other's files.
struct PartFolder {
    /// The path of the finished part.
    let path: String
    private let working: String
    private let directory: String
    private let sweepSHA256: String
    private let shard: Shard
    private let host: String

    /// - Parameter options: the options of a run; returns nil unless the run is a part.
    init?(_ options: RunOptions) {
        guard let sweep = options.sweep, let shard = sweep.shard else { return nil }
        path = "\(options.directory)/\(options.runID)"
        (working, directory, host) = (options.folder, options.directory, options.host)
        (sweepSHA256, self.shard) = (sweep.sha256, shard)
    }

    /// The path of the part if it is finished; nil if it does not exist.
    ///
    /// - Throws: `InputErrors` if something else has its name, or its files do not match the seal.
    func finished() throws(InputErrors) -> String? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        let seal: PartSeal
        do { seal = try PartSeal(in: path) } catch { throw InputErrors(error) }
        guard seal.sweepSHA256 == sweepSHA256, seal.shard == shard else {
            throw InputErrors(
                InputError(
                    file: path, message: "this is shard \(seal.shard) of the sweep \(seal.sweepSHA256.prefix(12))",
                    remedy: "name another folder with --output"))
        }
        try seal.check(in: path)
        return path
    }

    /// Seals the files and renames the folder.
    ///
    /// - Returns: false if another machine was first; then this machine's part is removed.
    func publish() throws -> Bool {
        let folder = try WrittenFolder(working)
        let names = try folder.names().filter { $0 == SummaryRow.fileName || PartSeal.required.contains($0) }
        let seal = try PartSeal(sweepSHA256: sweepSHA256, shard: shard, host: host, sealing: names, in: working)
        try folder.replace(PartSeal.fileName, by: seal.text)
        try folder.sync()
        if rename(working, path) == 0 {
            try WrittenFolder(directory).sync()
            return true
        }
        guard errno == ENOTEMPTY || errno == EEXIST else { throw DiskError(path: path, code: errno) }
        // Accepts the other machine's part, or throws if it is something else.
        _ = try finished()
        for name in try folder.names() { folder.discard(name) }
        rmdir(working)
        return false
    }
}
