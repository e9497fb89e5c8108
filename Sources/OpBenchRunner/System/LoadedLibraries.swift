import Foundation
import Glibc

/// The libraries that this process has loaded.
enum LoadedLibraries {
    /// The digits of a digest that are kept.
    private static let digits = 16

    /// By the file's name, the digest that the linker wrote into it, or its size and time if it has none.
    ///
    /// - Parameter maps: the text of `/proc/self/maps`; tests pass another one.
    static func read(maps: String = SystemFile.text("/proc/self/maps")) -> [String: String] {
        var libraries: [String: String] = [:]
        for line in maps.split(separator: "\n") {
            guard let start = line.firstIndex(of: "/") else { continue }
            let path = String(line[start...])
            let name = String(path.split(separator: "/").last ?? "")
            guard name.hasSuffix(".so") || name.contains(".so."), libraries[name] == nil else { continue }
            libraries[name] = digest(of: path)
        }
        return libraries
    }

    private static func digest(of path: String) -> String? {
        var facts = stat()
        guard stat(path, &facts) == 0, let data = try? Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        else { return nil }
        guard let place = ELFBuildID.places(in: data).first else {
            return "\(facts.st_size) bytes of \(facts.st_mtim.tv_sec)"
        }
        return String(place.prefix(digits / 2).map { hexadecimal(data[data.startIndex + $0]) }.joined())
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
