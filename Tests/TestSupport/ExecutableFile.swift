import Glibc

/// Executable files that tests make and run.
///
/// Another process writes them: a file that this one has open for writing can also be open in a child that another test has
/// just forked, and could not be executed as long as it is (ETXTBSY).
public enum ExecutableFile {
    /// Writes a script of the shell.
    ///
    /// - Parameter path: without a quotation mark.
    public static func writeScript(_ text: String, to path: String) {
        make("cat > '\(path)' && chmod 755 '\(path)'", path, input: "#!/bin/sh\n\(text)\n")
    }

    /// Copies a program, with its permissions.
    ///
    /// - Parameters:
    ///   - program: a path without a quotation mark.
    ///   - path: of the copy, without a quotation mark.
    public static func copy(_ program: String, to path: String) {
        make("cp --preserve=mode -- '\(program)' '\(path)'", path, input: "")
    }

    private static func make(_ command: String, _ path: String, input: String) {
        let shell = popen(command, "we")
        precondition(shell != nil, "no shell can be started")
        fputs(input, shell)
        precondition(pclose(shell) == 0, "\(path) cannot be written")
    }
}
