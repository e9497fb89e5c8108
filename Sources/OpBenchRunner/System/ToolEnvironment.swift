import Subprocess

extension Environment {
    /// The environment of a tool whose output is read: this process's, without the libraries that are preloaded for
    /// measuring. They may print.
    static func ofTool(_ changes: [Environment.Key: String?] = [:]) -> Environment {
        .inherit.updating(changes.merging(["LD_PRELOAD": nil]) { own, _ in own })
    }
}
