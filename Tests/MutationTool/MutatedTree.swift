import Foundation

/// A copy of the package in which every mutation can be switched on.
struct MutatedTree {
    let root: URL
    private let original: URL

    init(of original: URL, in scratch: URL) {
        self.original = original
        root = scratch.appending(path: "tree")
    }

    /// Brings the copy up to date. A file that does not change keeps its date, so that the build is incremental.
    func update(with mutations: [(number: Int, mutation: Mutation)]) throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        var wanted = ["Package.swift"]
        for folder in ["Sources", "Tests"] {
            let all = FileManager.default.enumerator(atPath: original.appending(path: folder).path)
            while let path = all?.nextObject() as? String { wanted.append("\(folder)/\(path)") }
        }
        let changed = try changedTexts(mutations)
        removeAllBut(Set(wanted).union(changed.keys))
        for path in wanted.sorted() where changed[path] == nil { try copy(path) }
        for (path, text) in changed {
            let file = root.appending(path: path)
            if (try? String(contentsOf: file, encoding: .utf8)) != text {
                try text.write(to: file, atomically: true, encoding: .utf8)
            }
        }
    }

    private func changedTexts(_ mutations: [(number: Int, mutation: Mutation)]) throws -> [String: String] {
        var texts = ["Sources/OperationEngine/Futex/MutationSwitch.swift": Schemata.switchSource]
        for (file, group) in Dictionary(grouping: mutations, by: \.mutation.file) {
            let path = "Sources/OperationEngine/\(file)"
            var schemata = Schemata(source: try text(path))
            for (number, mutation) in group { try schemata.place(mutation, number: number) }
            texts[path] = schemata.rendered()
        }
        // A mutated engine makes tests wait.
        let limits = "Tests/TestSupport/HangLimit.swift"
        texts[limits] = try text(limits).replacing(".seconds(60)", with: ".seconds(15)")
            .replacing(".seconds(240)", with: ".seconds(60)")
        return texts
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: original.appending(path: path), encoding: .utf8)
    }

    private func removeAllBut(_ wanted: Set<String>) {
        let there = FileManager.default.enumerator(atPath: root.path)
        while let path = there?.nextObject() as? String {
            if path.hasPrefix(".build") {
                there?.skipDescendants()
            } else if path.contains("/"), !wanted.contains(path) {
                try? FileManager.default.removeItem(at: root.appending(path: path))
            }
        }
    }

    private func copy(_ path: String) throws {
        let (from, to) = (original.appending(path: path), root.appending(path: path))
        if let link = try? FileManager.default.destinationOfSymbolicLink(atPath: from.path) {
            if (try? FileManager.default.destinationOfSymbolicLink(atPath: to.path)) != link {
                try? FileManager.default.removeItem(at: to)
                try FileManager.default.createSymbolicLink(atPath: to.path, withDestinationPath: link)
            }
            return
        }
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: from.path, isDirectory: &isFolder)
        if isFolder.boolValue {
            try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
        } else {
            let data = try Data(contentsOf: from)
            if (try? Data(contentsOf: to)) != data { try data.write(to: to) }
        }
    }
}
