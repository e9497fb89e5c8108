/// Records within the sample's process. Calls come from one thread, in this order: `begin`, then for each round
/// `roundBegins` and `roundDrained`, then `end`.
protocol ProfileRecorder: AnyObject {
    /// After the warm-up.
    func begin() throws
    func roundBegins()
    /// At the fence: all operations have ended, nothing was let go of yet.
    func roundDrained()
    /// Writes its files into the order's folder.
    func end() throws
}

/// Why a recorder cannot record, and what to do about it.
struct SamplerError: Error, Equatable, Sendable, CustomStringConvertible {
    var message: String
    var remedy: String

    var description: String { remedy.isEmpty ? message : "\(message); \(remedy)" }
}
