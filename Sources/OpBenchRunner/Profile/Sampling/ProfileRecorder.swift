/// Records within the sample's process. One thread calls it in this order: `begin`, then for each round `roundBegins`
/// and `roundDrained`, then `end`.
protocol ProfileRecorder: AnyObject {
    /// Called after the warm-up.
    func begin() throws
    func roundBegins()
    /// Called at the fence: all operations have ended, nothing has been released yet.
    func roundDrained()
    /// Writes its files into the folder of the `ProfileOrder`.
    func end() throws
}

/// Why a recorder cannot record, and a remedy.
struct SamplerError: Error, Equatable, Sendable, CustomStringConvertible {
    var message: String
    var remedy: String

    var description: String { remedy.isEmpty ? message : "\(message); \(remedy)" }
}
