import CLinuxMeasure
import Glibc
import OpBenchModel
import OpBenchProfile

/// Samples the stacks of all threads of this process by the CPU time that they use, without any outside help.
///
/// Every thread has a timer of its own CPU time, which sends it SIGPROF; the handler in CLinux walks its stack. A
/// waiting thread is never sampled, so never disturbed, except at the moment in which it falls asleep: system calls
/// restart (SA_RESTART), those with a timeout return EINTR.
///
/// ITIMER_PROF of setitimer(2) would not do: its signal belongs to the process, so the kernel chooses the thread that
/// receives it, preferably the main thread, and merges signals that come due together. Timers of the wall clock would
/// wake waiting threads.
///
/// The kernel checks these timers at its clock ticks, mostly 250 times per second; the weights of samples make up for
/// missed periods of 1 ms. On a busy processor it may check them much less often: on Linux 6.18, with five busy
/// processes on two processors, a thread had 4 to 10 samples in 300 ms of its CPU time, instead of 75. CPU time after a
/// thread's last sample is not seen. The sampler searches for new threads every few milliseconds, so it misses, on
/// average, half that time of a new thread.
///
/// A process has at most one sampler at a time. Not thread-safe.
final class SignalSampler: ProfileRecorder {
    struct Options: Sendable {
        /// Nanoseconds of a thread's CPU time between samples.
        var period: Int64 = 1_000_000
        /// Buffer for all samples; samples that do not fit count as lost. The system allocates it as it fills.
        var bufferSize = 64 << 20
        /// Milliseconds between searches for new threads.
        var searchInterval = 5
    }

    private let folder: String
    private let options: Options
    private var session: Session?

    /// - Parameter folder: the folder for `cpu.stacks`.
    init(folder: String, options: Options = Options()) {
        self.folder = folder
        self.options = options
    }

    /// - Throws: `SamplerError` if the system refuses timers, or SIGPROF has a handler already.
    func begin() throws { session = try Session(options) }

    func roundBegins() {}
    func roundDrained() {}

    /// - Throws: `DiskError`, and then leaves no file.
    func end() throws {
        guard let stacks = finish() else { return }
        let file = try NewFile(RawStacksFile.name, in: WrittenFolder(folder))
        try RawStacksFile.write(stacks, to: file)
        try file.publish()
    }

    /// Ends sampling; nil if it had not begun.
    func finish() -> RawStacks? {
        defer { session = nil }
        return session?.finish()
    }

    /// Number of samples so far, with lost ones.
    var sampleCount: Int { session?.sampleCount ?? 0 }

    /// Number of samples so far of threads with this name, of 15 bytes at most.
    func sampleCount(onThreadsNamed name: String) -> Int { session?.sampleCount(onThreadsNamed: name) ?? 0 }
}

/// The time from the first timer to the last.
private final class Session {
    private let profile = StackWalk.make()
    private let options: SignalSampler.Options
    private let words: UnsafeMutableRawBufferPointer
    private let watch: ThreadTimers
    private var isOver = false

    init(_ options: SignalSampler.Options) throws {
        self.options = options
        let memory = mmap(
            nil, options.bufferSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let memory, memory != MAP_FAILED else {
            throw SamplerError(
                message: "no memory for stacks: \(String(cString: strerror(errno)))", remedy: "free some memory")
        }
        words = UnsafeMutableRawBufferPointer(start: memory, count: options.bufferSize)
        profile.pointee.words = memory.assumingMemoryBound(to: UInt64.self)
        profile.pointee.capacity = UInt64(options.bufferSize / 8)
        profile.pointee.period_ns = options.period
        watch = ThreadTimers(profile, options)
        let failure = clinux_profile_open(profile)
        if failure != 0 {
            isOver = true
            throw Self.refusal(failure)
        }
        do {
            try watch.start()
        } catch {
            close()
            throw error
        }
    }

    deinit {
        close()
        munmap(words.baseAddress, words.count)
    }

    private func close() {
        if isOver { return }
        isOver = true
        watch.stop()
        clinux_profile_close()
    }

    private static func refusal(_ failure: Int32) -> SamplerError {
        switch failure {
        case EBUSY:
            SamplerError(message: "SIGPROF has another handler", remedy: "run without the other profiler")
        case ENOTSUP:
            SamplerError(message: "stacks cannot be walked on this kind of processor", remedy: "use perf")
        default:
            SamplerError(
                message: "the process cannot read its own stack by process_vm_readv(2): "
                    + String(cString: strerror(failure)),
                remedy: "allow that system call in the container's seccomp profile, or use perf")
        }
    }

    var sampleCount: Int {
        var count = 0
        forEachSample { _ in count += 1 }
        return count + Int(clinux_profile_load(&profile.pointee.lost_samples))
    }

    func sampleCount(onThreadsNamed name: String) -> Int {
        var count = 0
        forEachSample { if Self.threadName(of: $0) == name { count += 1 } }
        return count
    }

    private static func threadName(of sample: UnsafeBufferPointer<UInt64>) -> String {
        withUnsafeBytes(of: (sample[3], sample[4])) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    func finish() -> RawStacks {
        close()
        var stacks = RawStacks(processID: getpid(), period: options.period)
        stacks.threadStart = profile.pointee.thread_start
        stacks.lostSamples = Int64(profile.pointee.lost_samples)
        stacks.lostWeight = Int64(profile.pointee.lost_weight)
        stacks.unsampledThreads = Int64(watch.refusals)
        var threads: [RawStacks.Thread: UInt32] = [:]
        forEachSample { sample in
            let thread = RawStacks.Thread(
                id: Int32(truncatingIfNeeded: sample[2]), name: Self.threadName(of: sample))
            let place = threads[thread] ?? UInt32(threads.count)
            if threads.updateValue(place, forKey: thread) == nil { stacks.threads.append(thread) }
            let addresses = sample[(sample.startIndex + Int(clinux_profile_header))...]
            stacks.samples.append(
                RawStacks.Sample(
                    time: Int64(sample[0]), weight: Int64(sample[1]), first: Int64(stacks.addresses.count),
                    count: UInt32(addresses.count), thread: place))
            stacks.addresses += addresses
        }
        stacks.map = StackWalk.ownMap()
        return stacks
    }

    /// Stops at a sample whose handler is still running, even if complete ones follow.
    private func forEachSample(_ body: (UnsafeBufferPointer<UInt64>) -> Void) {
        let header = Int(clinux_profile_header)
        let all = UnsafeBufferPointer(words.bindMemory(to: UInt64.self))
        let count = min(Int(clinux_profile_load(&profile.pointee.used)), all.count)
        var place = 0
        while place + header <= count, clinux_profile_load(all.baseAddress! + place) != 0 {
            let length = header + Int(all[place + 2] >> 32)
            guard place + length <= count else { return }
            body(UnsafeBufferPointer(rebasing: all[place..<place + length]))
            place += length
        }
    }
}

/// Data about this process for walking stacks by frame pointers.
enum StackWalk {
    /// Data for the code loaded now, without a buffer for samples. Never freed: a pending signal reads it after
    /// sampling has ended.
    static func make() -> UnsafeMutablePointer<clinux_profile> {
        let ranges = code()
        let copy = UnsafeMutableBufferPointer<clinux_profile_code>.allocate(capacity: ranges.count)
        _ = copy.initialize(from: ranges)
        let profile = UnsafeMutablePointer<clinux_profile>.allocate(capacity: 1)
        profile.initialize(to: clinux_profile())
        profile.pointee.code = UnsafePointer(copy.baseAddress)
        profile.pointee.code_count = ranges.count
        profile.pointee.thread_start = threadStart()
        return profile
    }

    /// The ranges of valid return addresses, and whether their functions keep frame pointers. Code built by SwiftPM and
    /// most of Swift's toolchain does; the toolchain's libswiftDispatch and distributions' libraries do not.
    private static func code() -> [clinux_profile_code] {
        ownMap().mappings.map { mapping in
            // No code calls from the kernel's page, and the oldest kind of it is not readable.
            let hasFrames =
                mapping.path.hasPrefix("/") && clinux_profile_has_frames(mapping.start, mapping.end) != 0
            return clinux_profile_code(start: mapping.start, end: mapping.end, has_frames: hasFrames ? 1 : 0)
        }
    }

    static func ownMap() -> CodeMap { CodeMap(maps: SystemFile.text("/proc/self/maps").utf8) }

    /// The return address of threads' start functions, in the C library; 0 if no thread can be started.
    private static func threadStart() -> UInt64 {
        var (address, thread) = (UInt64(0), pthread_t())
        return withUnsafeMutablePointer(to: &address) { address in
            let failure = clinux_profile_start_thread(
                { $0?.assumingMemoryBound(to: UInt64.self).pointee = $1 }, address, &thread)
            if failure == 0 { pthread_join(thread, nil) }
            return address.pointee
        }
    }
}
