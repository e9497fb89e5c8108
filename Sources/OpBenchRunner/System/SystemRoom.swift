import Glibc

/// Whether the system has the threads and the file descriptors that a run needs.
///
/// Tried before anything else makes threads: libdispatch waits for ever, without a word, for a thread that it is refused,
/// and traps where it is refused a descriptor.
public enum SystemRoom {
    /// At the same time: Dispatch's and Swift's, in this process and in a sample's. RLIMIT_NPROC counts both.
    static let threads = 12
    /// At the same time: files, streams and the kernel objects of Dispatch.
    static let descriptors = 32

    /// - Throws: `ScarcityError` if one of them is refused. Nothing is kept.
    public static func check() throws(ScarcityError) {
        try checkDescriptors()
        try checkThreads()
    }

    private static func checkDescriptors() throws(ScarcityError) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < descriptors {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw ScarcityError(
                    code: errno, what: "file descriptors", had: opened.count, needed: descriptors,
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
                    code: code, what: "threads", had: started.count, needed: threads,
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

/// The system has too little of something for a run. Nobody's bad input: opbench exits with 1.
public struct ScarcityError: Error, CustomStringConvertible {
    /// An errno value.
    let code: Int32
    let what: String
    let had: Int
    let needed: Int
    let remedy: String

    public var description: String {
        "the system gives \(had) of the \(needed) \(what) that a run needs (\(String(cString: strerror(code)))); \(remedy)"
    }
}
