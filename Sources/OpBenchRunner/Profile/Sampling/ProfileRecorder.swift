<<<<<<< HEAD
/// Records within the sample's process. Calls come from one thread, in this order: `begin`, then for each round
/// `roundBegins` and `roundDrained`, then `end`.
=======
/// Records within the sample's process. Calls come from one thread, in this order: begin, (roundBegins, roundDrained)…, end.
>>>>>>> ce14410 (runner: sample CPU time by SIGPROF and the heap by jemalloc's profiler)
protocol ProfileRecorder: AnyObject {
    /// After the warm-up.
    func begin() throws
    func roundBegins()
<<<<<<< HEAD
    /// At the fence: all operations have ended, nothing was let go of yet.
    func roundDrained()
    /// Writes its files into the order's folder.
    func end() throws
}
=======
    /// At the fence: all operations have ended, nothing has been let go of yet.
    func roundDrained()
    /// Writes its raw files into the order's folder.
    func end() throws
}

/// Why a sampler cannot record here, and what to do about it.
struct SamplerError: Error, Equatable, Sendable, CustomStringConvertible {
    var message: String
    var remedy: String

    var description: String { remedy.isEmpty ? message : "\(message); \(remedy)" }
}
>>>>>>> ce14410 (runner: sample CPU time by SIGPROF and the heap by jemalloc's profiler)
