import Glibc
import Subprocess

extension GitFacts {
    /// Asks git about the folder of this program; nil without git, or outside of a repository.
    static func read() async -> GitFacts? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard length > 0 else { return nil }
        let path = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        guard let commit = await git("/" + folder, ["rev-parse", "HEAD"]),
            let changes = await git("/" + folder, ["status", "--porcelain", "--untracked-files=no"])
        else { return nil }
        return GitFacts(
            commit: String(commit.prefix { !$0.isWhitespace }), isDirty: !changes.allSatisfy(\.isWhitespace))
    }

    private static func git(_ folder: String, _ arguments: [String]) async -> String? {
        let result = try? await Subprocess.run(
            .name("git"), arguments: .init(["-C", folder] + arguments), output: .string(limit: 1 << 20))
        guard let result, result.terminationStatus.isSuccess else { return nil }
        return result.standardOutput
    }
}
