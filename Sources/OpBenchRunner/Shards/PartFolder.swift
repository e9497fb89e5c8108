import Glibc
import OpBenchModel

/// Where a part of a plan lies: in a hidden folder of this machine's own while it is measured, and under the part's name when it
/// is finished.
///
/// The name appears by one rename, when all files and their digests are on the disk. A machine that dies at any instant
/// before leaves no part, and two machines that measure the same one never write into each other's files.
struct PartFolder {
    /// When it is finished.
    let path: String
    private let working: String
    private let directory: String
    private let part: PartOptions
    private let host: String

    /// The files that every part has.
    static let required = [SampleRow.fileName, HistogramRow.fileName, RunManifest.fileName, PlanFile.fileName]

    /// - Parameter options: of the run that is the part.
    init(_ part: PartOptions, _ options: RunOptions) {
        path = "\(options.directory)/\(part.name)"
        working = options.folder
        directory = options.directory
        self.part = part
        host = options.host
    }

    /// The path of the part if it is finished; nil if it is not there.
    ///
    /// - Throws: `InputErrors` if something else stands there, or its files are not what was sealed.
    func finished() throws(InputErrors) -> String? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        let seal = try PartSeal(in: path, requiring: Self.required)
        guard seal.planSHA256 == part.planSHA256, seal.shard == part.shard else {
            throw InputErrors(
                InputError(
                    file: path, message: "this is shard \(seal.shard) of the plan \(seal.planSHA256.prefix(12))",
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
        try folder.replace(PlanFile.fileName, by: part.planText)
        let names = try folder.names().filter { $0 == SummaryRow.fileName || Self.required.contains($0) }
        let seal = try PartSeal(
            planSHA256: part.planSHA256, shard: part.shard, host: host, sealing: names, in: working)
        try folder.replace(PartSeal.fileName, by: seal.text)
        try folder.sync()
        if rename(working, path) == 0 {
            try WrittenFolder(directory).sync()
            return true
        }
        guard errno == ENOTEMPTY || errno == EEXIST else { throw DiskError(path: path, code: errno) }
        // What stands there is the part, or is told.
        _ = try finished()
        for name in try folder.names() { folder.discard(name) }
        rmdir(working)
        return false
    }
}
