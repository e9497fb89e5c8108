/// What `part.json` says: of which plan and shard a folder is the part, and the digests of its files. It is written last, and
/// so tells that the part is finished; and what was changed since, torn or lost, shows.
public struct PartSeal: Sendable, Equatable {
    public struct File: Sendable, Equatable {
        public var name: String
        public var bytes: Int
        public var sha256: String
    }

    public static let fileName = "part.json"
    private static let format = "opbench-part"
    private static let version = 1

    public var planSHA256: String
    public var shard: Shard
    /// The machine that measured it.
    public var host: String
    /// By name.
    public var files: [File]

    /// The seal of the files as they are.
    ///
    /// - Throws: `InputError` if one cannot be read.
    public init(planSHA256: String, shard: Shard, host: String, sealing names: [String], in folder: String)
        throws(InputError)
    {
        (self.planSHA256, self.shard, self.host) = (planSHA256, shard, host)
        files = []
        for name in names.sorted() { files.append(try Self.digest(of: name, in: folder)) }
    }

    private static func digest(of name: String, in folder: String) throws(InputError) -> File {
        let source = try ReadFile("\(folder)/\(name)", limit: .max)
        var (digest, count) = (SHA256(), 0)
        while true {
            let part = try source.next()
            if part.isEmpty { return File(name: name, bytes: count, sha256: digest.hexadecimal) }
            digest.add(part)
            count += part.count
        }
    }

    /// Holds the files against their digests.
    ///
    /// - Throws: `InputErrors` with every file that is not what was sealed.
    public func check(in folder: String) throws(InputErrors) {
        let mistakes = Mistakes()
        for file in files {
            let found = mistakes.keepFirst { () throws(InputError) in try Self.digest(of: file.name, in: folder) }
            guard let found, found != file else { continue }
            mistakes.note(
                InputError(
                    file: "\(folder)/\(file.name)",
                    message: "the file is not the one that was sealed in \(Self.fileName): it was changed or damaged",
                    remedy: "restore it, or remove the part and run its shard \(shard) again"))
        }
        try mistakes.check()
    }

    // MARK: JSON

    public var text: String {
        JSONText.write(
            .object(
                ("format", .string(Self.format)), ("format_version", .integer(Self.version)),
                (PlanFile.sha256Key, .string(planSHA256)), ("shard", .string(shard.description)),
                ("host", .string(host)),
                (
                    "files",
                    .members(
                        files.map { file in
                            (file.name, .object(("bytes", .integer(file.bytes)), ("sha256", .string(file.sha256))))
                        })
                )))
    }

    /// Reads the seal of a part's folder.
    ///
    /// - Parameter required: files that a part must have.
    /// - Throws: `InputErrors` if there is none, or if it is not one.
    public init(in folder: String, requiring required: [String]) throws(InputErrors) {
        let file = "\(folder)/\(Self.fileName)"
        let text: String
        do {
            text = try TextFile.read(file, limit: 1 << 20)
        } catch {
            throw InputErrors(
                InputError(
                    file: folder, message: "this is no finished part of a plan: \(Self.fileName): \(error.message)",
                    remedy: "name a folder that `opbench run --plan` has finished; if this was one, remove it and run "
                        + "its shard again"))
        }
        self = try Self.decode(text: text, file: file, requiring: required)
    }

    /// As `init(in:requiring:)`, of a text that was read before.
    public static func decode(
        text: String, file: String, requiring required: [String] = []
    ) throws(InputErrors) -> PartSeal {
        let mistakes = Mistakes()
        let root = try JSONParser.read(text, file: file, mistakes)
        let keys = ["format", "format_version", PlanFile.sha256Key, "shard", "host", "files"]
        let members = try root.object("a part's description", known: keys, required: keys, mistakes)
        mistakes.keep(members["format"]) { node throws(InputErrors) in
            _ = try node.choice("format", among: [Self.format])
        }
        mistakes.keep(members["format_version"]) { node throws(InputErrors) in
            _ = try node.count("a version that is known", in: Self.version...Self.version)
        }
        let plan = mistakes.keep(members[PlanFile.sha256Key]) { node throws(InputErrors) in try node.digest() }
        let shard = mistakes.keep(members["shard"]) { node throws(InputErrors) -> Shard in
            let text = try node.string("a shard")
            guard let shard = Shard(text) else {
                throw node.error("\(JSONText.excerpt(text)) is no shard", remedy: "restore the file")
            }
            return shard
        }
        let host = mistakes.keep(members["host"]) { node throws(InputErrors) in
            try node.sentence("a machine's name", limit: MachineName.limit)
        }
        let files = mistakes.keep(members["files"]) { node throws(InputErrors) in
            try self.files(node, requiring: required)
        }
        try mistakes.check()
        return PartSeal(planSHA256: plan!, shard: shard!, host: host!, files: files!)
    }

    private init(planSHA256: String, shard: Shard, host: String, files: [File]) {
        (self.planSHA256, self.shard, self.host, self.files) = (planSHA256, shard, host, files)
    }

    /// Files of the folder itself; a path would lead out of it.
    private static func files(_ node: JSONNode, requiring required: [String]) throws(InputErrors) -> [File] {
        let mistakes = Mistakes()
        var files: [File] = []
        for member in try node.members("an object of files").prefix(100) {
            let entry = node.child(member)
            guard !member.name.isEmpty, !member.name.utf8.contains(UInt8(ascii: "/")), member.name != "..",
                member.name != "."
            else {
                mistakes.note(entry.mistake("this names no file of the folder", remedy: "restore the file"))
                continue
            }
            mistakes.keep { () throws(InputErrors) in
                let inner = Mistakes()
                let parts = try entry.object(
                    "a file", known: ["bytes", "sha256"], required: ["bytes", "sha256"], inner)
                let bytes = inner.keep(parts["bytes"]) { node throws(InputErrors) in
                    try node.count("a number of bytes", in: 0...(1 << 50))
                }
                let sha256 = inner.keep(parts["sha256"]) { node throws(InputErrors) in try node.digest() }
                try inner.check()
                files.append(File(name: member.name, bytes: bytes!, sha256: sha256!))
            }
        }
        let missing = required.filter { name in !files.contains { $0.name == name } }
        if !missing.isEmpty {
            mistakes.note(
                node.mistake("there is nothing of \(missing.joined(separator: ", "))", remedy: "restore the file"))
        }
        try mistakes.check()
        return files.sorted { $0.name < $1.name }
    }
}
