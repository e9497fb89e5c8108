import Glibc
import OpBenchModel

/// Writing to standard output failed: data that somebody wants did not arrive.
struct OutputError: Error, CustomStringConvertible {
    let code: Int32

    var description: String { "could not write to standard output: \(String(cString: strerror(code)))" }
}

/// Writes that the system answers with a signal: to a pipe that nobody reads, and beyond RLIMIT_FSIZE.
enum FailedWrites {
    /// From now on they are errors of the write. A run of hours does not end because the program that shows its progress
    /// did. Programs that are started have the signals as ever.
    static func becomeErrors() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Ends the process as programs end whose reader has what it wants (`opbench show x | head`): by SIGPIPE, silently.
    static func endAsReaderDid() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        exit(ExitStatus.failure)
    }
}

/// Standard output, for data alone. Every write is checked: a full disk must not look like success.
enum StandardOutput {
    static func write(_ text: String) throws(OutputError) {
        do {
            try FileBytes.write(text, to: STDOUT_FILENO)
        } catch {
            throw OutputError(code: error.code)
        }
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The terminal's width in columns; nil where there is no terminal, or none that tells.
    static var width: Int? { terminalWidth(STDOUT_FILENO) }
}

/// Standard error, for progress and diagnostics. What cannot be written there is lost.
enum StandardError {
    static func write(_ text: String) {
        try? FileBytes.write(text, to: STDERR_FILENO)
    }

    /// One line of diagnostics, whatever is in it: parts of it may be of a file's making.
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
