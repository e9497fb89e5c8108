import ArgumentParser
import OpBenchModel

/// A word that stands where a subcommand's name belongs, and is none. The parser takes it for an argument too many.
enum MisspeltSubcommand {
    /// - Parameter arguments: without the program's name.
    /// - Returns: nil if there is none.
    static func error(in arguments: [String], of root: any ParsableCommand.Type) -> InputError? {
        var command = root
        var path = [root._commandName]
        for word in arguments {
            // What follows help is a path of names as well.
            if path.count == 1, word == "help" { continue }
            let subcommands = command.configuration.subcommands
            if word.hasPrefix("-") || subcommands.isEmpty { return nil }
            guard let next = subcommands.first(where: { $0._commandName == word }) else {
                return error(word, after: path, among: subcommands.map { $0._commandName })
            }
            command = next
            path.append(word)
        }
        return nil
    }

    private static func error(_ word: String, after path: [String], among known: [String]) -> InputError {
        let command = path.joined(separator: " ")
        let near = Suggestion.nearest(to: word, among: known).map { "did you mean `\($0)`?" }
        return InputError(
            file: command, message: "no subcommand `\(word)`",
            remedy: "\(near ?? "there are \(known.joined(separator: ", "));") `\(command) --help` tells of all")
    }
}
