import Foundation
import Glibc
import OpBenchModel

/// What `part.json` says: of which sweep and shard a folder is the part, and the digests of its files. It is written last, and
/// so shows that the part is finished, and whether a file was changed, torn or lost since.
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
    /// By name.
    var files: [String: File]

    enum CodingKeys: String, CodingKey {
        case sweepSHA256 = "sweep_sha256"
        case shard, host, files
    }

    /// The seal of the files as they are.
    ///
    /// - Throws: `InputError` if one cannot be read.
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
    /// - Throws: `InputError` if there is none, if it is not one, or if it lacks a file that every part has.
    init(in folder: String) throws(InputError) {
        let file = "\(folder)/\(Self.fileName)"
        let text: String
        do {
            text = try JSONDocument.text(of: file, limit: 1 << 20)
        } catch {
            throw InputError(
                file: folder, message: "this is no finished part of a sweep: \(Self.fileName): \(error.message)",
                remedy: "name a folder that `opbench run --shard` has finished; if this was one, remove it and run "
                    + "its shard again")
        }
        self = try Self.decode(text, file: file)
    }

    /// As `init(in:)`, of a text that `JSONDocument` has checked.
    static func decode(_ text: String, file: String) throws(InputError) -> PartSeal {
        let seal: PartSeal
        do {
            seal = try JSONDecoder().decode(PartSeal.self, from: Data(text.utf8))
        } catch {
            throw InputError(
                file: file, path: JSONDocument.path(of: error), message: "this is not the description of a part",
                remedy: "restore the file")
        }
        // Files of the folder itself; a path would lead out of it.
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

    /// Holds the files against their digests.
    ///
    /// - Throws: `InputErrors` with every file that is not what was sealed.
    func check(in folder: String) throws(InputErrors) {
        let mistakes = Mistakes()
        for (name, sealed) in files.sorted(by: { $0.key < $1.key }) {
            let found = mistakes.keepFirst { () throws(InputError) in try Self.digest(of: name, in: folder) }
            guard let found, found != sealed else { continue }
            mistakes.note(
                InputError(
                    file: "\(folder)/\(name)",
                    message: "the file is not the one that was sealed in \(Self.fileName): it was changed or damaged",
                    remedy: "restore it, or remove the part and run its shard \(shard) again"))
        }
        try mistakes.check()
    }
}

/// Where a part of a sweep lies: in a hidden folder of this machine's own while it is measured, and under the part's name when
/// it is finished.
///
/// The name appears by one rename, when all files and their digests are on the disk. A machine that dies at any instant
/// before leaves no part, and two machines that measure the same one never write into each other's files.
struct PartFolder {
    /// When it is finished.
    let path: String
    private let working: String
    private let directory: String
    private let sweepSHA256: String
    private let shard: Shard
    private let host: String

    /// - Parameter options: of a run; nil for one that is no part.
    init?(_ options: RunOptions) {
        guard let sweep = options.sweep, let shard = sweep.shard else { return nil }
        path = "\(options.directory)/\(options.runID)"
        (working, directory, host) = (options.folder, options.directory, options.host)
        (sweepSHA256, self.shard) = (sweep.sha256, shard)
    }

    /// The path of the part if it is finished; nil if it is not there.
    ///
    /// - Throws: `InputErrors` if something else has its name, or its files are not what was sealed.
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

    /// Seals the files, and gives the folder its name.
    ///
    /// - Returns: false if another machine was first; what was measured here is removed then.
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
        // What has the name is the part, or is refused.
        _ = try finished()
        for name in try folder.names() { folder.discard(name) }
        rmdir(working)
        return false
    }
}
