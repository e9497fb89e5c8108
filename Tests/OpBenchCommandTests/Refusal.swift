import TestSupport
import Testing

extension OpBenchProcess {
    /// Gives opbench `words` that it must reject: exit code 64, nothing printed or written, and a message.
    ///
    /// - Parameters:
    ///   - names: the file, path or option that the message must name, and its remedy if there is one; separated by
    ///     spaces.
    ///   - golden: the file with the expected message.
    ///   - section: the section of `golden`; the command line if nil.
    ///   - replacements: further replacements, in addition to the folder and the program.
    ///   - isHere: whether the command runs in the test's process: see `runHere`.
    static func expectRefusal(
        of words: [String], naming names: String, in folder: ScratchFolder, _ golden: Golden, _ section: String? = nil,
        replacing replacements: [String: String] = [:], isHere: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = folder.contents()
        let result = try await isHere ? runHere(words, in: folder) : run(words, in: folder)
        #expect(result.status == 64 && result.output == "", "\(result.errors)", sourceLocation: sourceLocation)
        for name in names.split(separator: " ") {
            #expect(result.errors.contains(name), "\(name): \(result.errors)", sourceLocation: sourceLocation)
        }
        #expect(folder.contents() == before, sourceLocation: sourceLocation)
        golden.expect(
            result.errors, section ?? "opbench " + words.joined(separator: " "),
            replacing: replacements.merging([folder.root: "FOLDER", binary: "OPBENCH"]) { $1 },
            sourceLocation: sourceLocation)
    }
}
