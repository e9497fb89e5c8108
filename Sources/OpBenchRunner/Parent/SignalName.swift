import Glibc

/// Signals by the names that people know.
enum SignalName {
    static func of(_ signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
            SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGINT: "SIGINT",
            SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU", SIGQUIT: "SIGQUIT", SIGHUP: "SIGHUP",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
