/// Changes to this process's environment for a tool whose output is read.
enum ToolEnvironment {
    /// Without the libraries that are preloaded for measuring. They may print.
    static let quiet: [String: String?] = ["LD_PRELOAD": nil]
}
