import Glibc

/// Checks that the system provides what opbench needs: /proc, and for a run threads and file descriptors.
///
/// The check comes before anything else makes threads: if the system refuses a thread to libdispatch, it waits forever
/// without a message; if refused a descriptor, it traps.
public enum SystemRoom {
    /// Concurrent threads of Dispatch and Swift, in this process and in a sample's. RLIMIT_NPROC counts both.
    static let threads = 12
    /// Concurrent descriptors: files, streams and Dispatch's kernel objects.
    static let descriptors = 32

    /// - Throws: `ScarcityError` if the system refuses one. Everything is freed again.
    public static func check() throws(ScarcityError) {
        try checkDescriptors()
        try checkThreads()
    }

    /// Checks that /proc exists. Without it, a Swift program has no arguments, and a run cannot start its own program
    /// for its samples.
    ///
    /// - Parameter proc: the path; tests pass another one.
    /// - Throws: `ScarcityError` if it is not mounted, or this process may not read it.
    public static func checkProc(_ proc: String = "/proc") throws(ScarcityError) {
        guard access("\(proc)/self/cmdline", R_OK) == 0, access("\(proc)/self/exe", X_OK) == 0 else {
            throw ScarcityError(
                what: "\(proc) has no entry for this process (\(String(cString: strerror(errno))))",
                remedy: "mount it: mount -t proc proc \(proc); a chroot or container needs its own")
        }
    }

    private static func checkDescriptors() throws(ScarcityError) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < descriptors {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw ScarcityError(
                    refusal: errno, of: "file descriptors", had: opened.count, needed: descriptors,
                    remedy: "raise the limit (ulimit -n 256)")
            }
            opened.append(descriptor)
        }
    }

    private static func checkThreads() throws(ScarcityError) {
        let gate = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(gate, 0, 0)
        var started: [pthread_t] = []
        defer {
            for _ in started { sem_post(gate) }
            for thread in started { pthread_join(thread, nil) }
            sem_destroy(gate)
            gate.deallocate()
        }
        while started.count < threads {
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, waitAtGate, gate)
            guard code == 0 else {
                throw ScarcityError(
                    refusal: code, of: "threads", had: started.count, needed: threads,
                    remedy: "raise the limits of processes and memory (ulimit -u, ulimit -v)")
            }
            started.append(thread)
        }
    }

    private static let waitAtGate: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { gate in
        if let gate = gate?.assumingMemoryBound(to: sem_t.self) {
            while sem_wait(gate) != 0, errno == EINTR {}
        }
        return nil
    }
}

/// The system lacks something that opbench needs. This is not bad input, so opbench exits with 1.
public struct ScarcityError: Error, CustomStringConvertible {
    let what: String
    let remedy: String

    public var description: String { "\(what); \(remedy)" }

    fileprivate init(what: String, remedy: String) { (self.what, self.remedy) = (what, remedy) }

    /// - Parameter refusal: an errno value.
    fileprivate init(refusal: Int32, of what: String, had: Int, needed: Int, remedy: String) {
        self.init(
            what: "the system provides \(had) of the \(needed) \(what) that a run needs "
                + "(\(String(cString: strerror(refusal))))",
            remedy: remedy)
    }
}
