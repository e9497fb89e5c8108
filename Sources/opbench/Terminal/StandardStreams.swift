import Glibc

/// Writing to standard output failed: data that somebody wants did not arrive.
struct OutputError: Error, CustomStringConvertible {
    let target: String
    let code: Int32

    var description: String { "could not write \(target): \(String(cString: strerror(code)))" }
}

/// Standard output, for data alone. Every write is checked: a full disk must not look like success.
enum StandardOutput {
    static func write(_ text: String) throws(OutputError) {
        do {
            try FileBytes.write(text, to: STDOUT_FILENO)
        } catch {
            throw OutputError(target: "to standard output", code: error.code)
        }
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}

/// Standard error, for progress and diagnostics. What cannot be written there is lost.
enum StandardError {
    static func write(_ text: String) {
        try? FileBytes.write(text, to: STDERR_FILENO)
    }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The terminal's width in columns.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// A call to the system failed with this `errno`.
struct SystemError: Error {
    let code: Int32
}

/// Whole writes to a file descriptor.
enum FileBytes {
    static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SystemError(code: errno)
            }
        }
    }
}
