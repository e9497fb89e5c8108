import Glibc
import OpBenchModel

/// Writing to standard output failed: data was lost.
struct OutputError: Error, CustomStringConvertible {
    let code: Int32

    var description: String { "could not write to standard output: \(String(cString: strerror(code)))" }
}

/// Failed writes that the system answers with a signal: to a pipe without a reader, and beyond RLIMIT_FSIZE.
enum FailedWrites {
    /// Turns them into errors of the write, so that a long run does not end because the program that shows its progress
    /// did. Child programs keep the default signals.
    static func becomeErrors() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Ends the process like other programs whose reader has enough (`opbench show x | head`): silently, by SIGPIPE.
    static func endAsReaderDid() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        exit(ExitStatus.failure)
    }
}

/// Standard output, only for data. Every write is checked: a full disk must not look like success.
enum StandardOutput {
    static func write(_ text: String) throws(OutputError) {
        do {
            try FileBytes.write(text, to: STDOUT_FILENO)
        } catch {
            throw OutputError(code: error.code)
        }
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether text may be coloured: on a terminal that can, unless `NO_COLOR` is set (https://no-color.org).
    static var isColored: Bool {
        func value(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        return isTerminal && value("NO_COLOR").isEmpty && value("TERM") != "dumb"
    }

    /// The terminal's width in columns; nil without a terminal, or if it does not report its width.
    static var width: Int? { terminalWidth(STDOUT_FILENO) }
}

/// Standard error, for progress and diagnostics. Text that cannot be written is lost.
enum StandardError {
    static func write(_ text: String) {
        try? FileBytes.write(text, to: STDERR_FILENO)
    }

    /// Writes one line of diagnostics, escaped because it may contain a file's text.
    static func say(_ line: String) {
        write(TerminalText.escaped(line, limit: TerminalText.messageLimit) + "\n")
    }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The terminal's width in columns.
    static var width: Int { terminalWidth(STDERR_FILENO) ?? 80 }
}

private func terminalWidth(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}
