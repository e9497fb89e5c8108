import Glibc

/// Executable files that tests write and run.
public enum Script {
    /// Writes a script of the shell.
    ///
    /// Another process does: a file that this one has open for writing can also be open in a child that another test has
    /// just forked, and could not be executed as long as it is (ETXTBSY).
    ///
    /// - Parameter path: without a quotation mark.
    public static func write(_ text: String, to path: String) {
        let file = popen("cat > '\(path)' && chmod 755 '\(path)'", "we")
        precondition(file != nil, "no shell can be started")
        fputs("#!/bin/sh\n\(text)\n", file)
        precondition(pclose(file) == 0, "\(path) cannot be written")
    }
}
