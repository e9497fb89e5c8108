/// Changes to this process's environment for a tool whose output is read.
enum ToolEnvironment {
    /// Without libraries that are preloaded for measuring, because they may print.
    static let quiet: [String: String?] = ["LD_PRELOAD": nil]
}
