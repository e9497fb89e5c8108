import CLinuxMeasure
import Glibc

/// A program that ends with the thread that started it.
enum Tool {
    /// - Parameters:
    ///   - environment: changes to this process's.
    ///   - files: become its descriptors from 0 on.
    /// - Returns: its process, or a negative errno value.
    static func start(
        _ program: String, _ arguments: [String], _ environment: [String: String], files: [Int32]
    ) -> pid_t {
        var values = environment.map { "\($0.key)=\($0.value)" }
        for pointer in sequence(first: environ, next: { $0 + 1 }) {
            guard let entry = pointer.pointee else { break }
            let text = String(cString: entry)
            if !environment.keys.contains(where: { text.hasPrefix($0 + "=") }) { values.append(text) }
        }
        let (texts, variables) = (strings(arguments), strings(values))
        defer { for text in texts + variables { free(text) } }
        return clinux_start_tied(program, texts, variables, files, Int32(files.count))
    }

    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }
}
