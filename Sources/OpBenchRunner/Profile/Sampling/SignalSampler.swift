import CLinuxMeasure
import Glibc
import OpBenchModel
import OpBenchProfile

/// Samples the stacks of all threads of this process by the CPU time that they use, without any help from outside.
///
/// Every thread has a timer of its own CPU time, which sends it SIGPROF; the handler in CLinux walks its stack. A thread
/// that waits is never sampled, hence never disturbed, but for the moment in which it falls asleep: system calls start
/// anew (SA_RESTART), those with a timeout return EINTR.
///
/// Not ITIMER_PROF, setitimer(2): its signal belongs to the process, so that the kernel chooses the thread that takes it,
/// the main thread rather than others, and signals of several threads that come due together are one. Not timers of the
/// wall clock either, which would wake threads that wait.
///
/// The kernel looks at such timers at its clock's ticks, mostly 250 times a second; what a period of 1 ms loses by that is
/// in the samples' weights. On a busy processor it may find them much less often: on Linux 6.18, beside five busy processes
/// on two processors, a thread had 4 to 10 samples in 300 ms of its CPU time, instead of 75. What it uses after the last
/// one is not seen. Threads are looked for every few milliseconds: what a new thread uses up before is not seen,
/// on the average half of that time.
///
/// A process has at most one at a time. Not thread-safe.
final class SignalSampler: ProfileRecorder {
    struct Options: Sendable {
        /// Nanoseconds of a thread's CPU time from a sample to the next.
        var period: Int64 = 1_000_000
        /// For all samples; what does not fit is counted as lost. Taken from the system as it fills.
        var bufferSize = 64 << 20
        /// Milliseconds from a search for new threads to the next.
        var searchInterval = 5
    }

    private let folder: String
    private let options: Options
    private var session: Session?

    /// - Parameter folder: for `cpu.stacks`.
    init(folder: String, options: Options = Options()) {
        self.folder = folder
        self.options = options
    }

    /// - Throws: `SamplerError` if the system refuses timers, or SIGPROF has a handler already.
    func begin() throws { session = try Session(options) }

    func roundBegins() {}
    func roundDrained() {}

    /// - Throws: `DiskError`, and leaves no file then.
    func end() throws {
        guard let stacks = finish() else { return }
        let file = try NewFile(RawStacksFile.name, in: WrittenFolder(folder))
        try RawStacksFile.write(stacks, to: file)
        try file.publish()
    }

    /// Ends sampling. nil if it was not begun.
    func finish() -> RawStacks? {
        defer { session = nil }
        return session?.finish()
    }

    /// Samples so far, with those that were lost.
    var sampleCount: Int { session?.sampleCount ?? 0 }

    /// Samples so far of threads with this name, of 15 bytes at most.
    func sampleCount(onThreadsNamed name: String) -> Int { session?.sampleCount(onThreadsNamed: name) ?? 0 }
}

/// From the first timer to the last.
private final class Session {
    private let profile = StackWalk.make()
    private let options: SignalSampler.Options
    private let words: UnsafeMutableRawBufferPointer
    private let watch: ThreadWatch
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
        watch = ThreadWatch(profile, options)
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

    /// A sample whose handler still runs ends it: none behind is looked at.
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

/// What walking stacks by frame pointers has to know of this process.
enum StackWalk {
    /// With the code that there is now, and without room for samples. Left in memory for ever: a signal that is already on
    /// its way looks there whether sampling has ended.
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

    /// Where return addresses may lead, and whose functions keep frame pointers: SwiftPM's and most of Swift's toolchain,
    /// but not the toolchain's libswiftDispatch, nor what distributions build.
    private static func code() -> [clinux_profile_code] {
        ownMap().mappings.map { mapping in
            // Nobody calls from the kernel's page, and nobody may read the oldest kind of it.
            let hasFrames =
                mapping.path.hasPrefix("/") && clinux_profile_has_frames(mapping.start, mapping.end) != 0
            return clinux_profile_code(start: mapping.start, end: mapping.end, has_frames: hasFrames ? 1 : 0)
        }
    }

    static func ownMap() -> CodeMap { CodeMap(maps: SystemFile.text("/proc/self/maps").utf8) }

    /// Where the functions that threads start with return to, in the C library; 0 if there is no thread to be had.
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
