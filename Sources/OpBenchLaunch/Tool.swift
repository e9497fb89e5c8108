import CLinuxMeasure
import Glibc

/// A program that ends with the thread that started it.
public enum Tool {
    /// - Parameters:
    ///   - arguments: the program's name first.
    ///   - environment: changes to this process's environment: a value, or nil to remove the variable.
    ///   - folder: the working folder; nil for this process's.
    ///   - hasOwnGroup: whether it leads a separate process group.
    ///   - signalAtEnd: the signal that it gets when the thread ends.
    ///   - files: the descriptors that become its descriptors from 0 on.
    /// - Returns: its process number, or a negative errno value.
    public static func start(
        _ program: String, _ arguments: [String], _ environment: [String: String?], in folder: String? = nil,
        hasOwnGroup: Bool = false, signalAtEnd: Int32 = SIGKILL, files: [Int32]
    ) -> pid_t {
        let own = OwnEnvironment.entries.filter { environment[$0.name] == nil }.map(\.entry)
        let values = own + environment.compactMap { name, value in value.map { "\(name)=\($0)" } }
        let (texts, variables) = (strings(arguments), strings(values))
        defer { for text in texts + variables { free(text) } }
        return clinux_start_tied(
            program, texts, variables, folder, hasOwnGroup ? 1 : 0, signalAtEnd, files, Int32(files.count))
    }

    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }
}

/// This process's environment.
public enum OwnEnvironment {
    public static var names: [String] { entries.map(\.name) }

    static var entries: [(name: String, entry: String)] {
        sequence(first: environ, next: { $0 + 1 }).lazy.map(\.pointee).prefix { $0 != nil }.map { entry in
            let text = String(cString: entry!)
            return (String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self), text)
        }
    }
}
