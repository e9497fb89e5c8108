import CLinux
import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel

/// The process of one sample: this program, executed again with a hidden first argument.
public enum SampleChild {
    /// The hidden argument. No user's command has this name.
    static let argument = "__sample"
    /// Asks what build this is; the answer is a `BuildDescription`.
    static let describeArgument = "__describe"

    /// If this process was started to be a sample, runs it, answers on standard output, and exits. Else returns at once.
    ///
    /// The first call of `main`, before anything is parsed or started, so that a sample begins soon and undisturbed.
    public static func mainIfChild() {
        guard CommandLine.argc == 2, let first = CommandLine.unsafeArgv[1] else { return }
        if strcmp(first, describeArgument) == 0 {
            guard let data = try? JSONEncoder().encode(BuildDescription.own), writeAll(data, to: STDOUT_FILENO) else {
                _exit(74)
            }
            _exit(0)
        }
        guard strcmp(first, argument) == 0 else { return }
        let answer = dup(STDOUT_FILENO)
        // What libraries print belongs to the diagnostics.
        dup2(STDERR_FILENO, STDOUT_FILENO)
        guard let request = try? JSONDecoder().decode(SampleRequest.self, from: readAll(STDIN_FILENO)),
            clinux_die_with_parent(request.parent) == 0,
            let factory = BackendFactory.named(request.backend)
        else { _exit(64) }
        if request.flavour == .calls { CallCounter.begin() }
        let report = Trial(request, factory: factory).run()
        guard let data = try? JSONEncoder().encode(report), writeAll(data, to: answer) else { _exit(74) }
        _exit(0)
    }

    private static func readAll(_ descriptor: Int32) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
            } else if count == 0 || errno != EINTR {
                return data
            }
        }
    }

    private static func writeAll(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = write(descriptor, rest.withUnsafeBytes { $0.baseAddress }, rest.count)
                if count < 0, errno != EINTR { return false }
                rest = rest.dropFirst(max(0, count))
            }
            return true
        }
    }
}
