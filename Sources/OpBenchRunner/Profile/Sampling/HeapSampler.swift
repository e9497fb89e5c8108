import OpBenchModel

/// Records, by jemalloc's own profiler, which stacks allocate between the marks.
///
/// jemalloc would unwind by the tables for exceptions (prof_libgcc), which is slow and ends where a function of Swift has
/// none. In its place stands the walk by frame pointers of `SignalSampler`.
///
/// The process has to be started with `environment`. Not thread-safe.
final class HeapSampler: ProfileRecorder {
    /// Of the first round, at its fence: what is in use there.
    static let liveFile = "heap.1.heap"
    /// At the end: what all rounds allocated, in the columns in brackets.
    static let allFile = "heap.all.heap"

    /// What jemalloc's counters say was allocated meanwhile: in the first round, and in all rounds. With what the profiler
    /// itself allocates for each stack that it has not seen before.
    static let countsFile = "heap.counts"

    /// The settings of jemalloc that a process of this sampler is started with.
    ///
    /// - Parameter lgSample: an allocation is sampled every 2^lgSample bytes on the average; at 0, each is.
    static func environment(lgSample: Int = 0) -> [String: String] {
        // Without a cache of the thread's, every free is seen when it happens, and counts are exact.
        let settings = [
            "prof:true", "prof_active:false", "prof_accum:true", "lg_prof_sample:\(lgSample)", "tcache:false",
            "prof_final:false",
        ]
        return [SampleEnvironment.allocatorOptions: settings.joined(separator: ",")]
    }

    private let folder: String
    private var rounds = 0
    private let probe = try? HeapProbe()
    private var before = 0
    private var counts = (first: 0, all: 0)
    private var failure: (any Error)?

    /// - Parameter folder: for the dumps.
    init(folder: String) { self.folder = folder }

    /// - Throws: `SamplerError` if this process has no such profiler.
    func begin() throws {
        try HeapProfiler.check()
        HeapProfiler.walkByFramePointers()
    }

    func roundBegins() {
        before = probe?.allocationCount() ?? 0
        HeapProfiler.setActive(true)
    }

    func roundDrained() {
        // First, so that the dump shows nothing of what other threads do while it is written.
        HeapProfiler.setActive(false)
        counts.all += (probe?.allocationCount() ?? 0) - before
        rounds += 1
        if rounds > 1 { return }
        counts.first = counts.all
        dump(Self.liveFile)
    }

    /// - Throws: `DiskError`, and leaves no file then.
    func end() throws {
        if failure == nil { dump(Self.allFile) }
        let written = try WrittenFolder(folder)
        guard let failure else { return try written.replace(Self.countsFile, by: "\(counts.first) \(counts.all)\n") }
        for name in [Self.liveFile, Self.allFile] { written.discard(name) }
        throw failure
    }

    private func dump(_ name: String) {
        do {
            try HeapProfiler.dump("\(folder)/\(name)")
        } catch {
            failure = error
        }
    }
}

#if JEMALLOC
    import CJemalloc
    import CLinuxMeasure
    import Glibc

    /// jemalloc's profiler, by mallctl(3).
    enum HeapProfiler {
        static func check() throws(SamplerError) {
            if let lack { throw SamplerError(message: lack.reason, remedy: lack.remedy) }
            guard flag("opt.prof") == true else {
                throw SamplerError(message: "jemalloc's profiler is not on", remedy: "start with MALLOC_CONF=prof:true")
            }
        }

        /// From jemalloc 5.3 on; else it unwinds as it is used to.
        static func walkByFramePointers() {
            clinux_profile_use(StackWalk.make())
            var walk =
                clinux_profile_backtrace
                as @convention(c) (
                    UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<UInt32>?, UInt32
                ) -> Void
            mallctl("experimental.hooks.prof_backtrace", nil, nil, &walk, MemoryLayout.size(ofValue: walk))
        }

        /// Why this process cannot have such profiles, whatever its settings; nil if it can.
        static var lack: HeapLack? { Allocator.lack ?? (flag("config.prof") == true ? nil : .noProfiler) }

        private static func flag(_ name: String) -> Bool? {
            var value = false
            var size = MemoryLayout<Bool>.size
            return mallctl(name, &value, &size, nil, 0) == 0 ? value : nil
        }

        static func setActive(_ isActive: Bool) {
            var isActive = isActive
            mallctl("prof.active", nil, nil, &isActive, MemoryLayout<Bool>.size)
        }

        static func dump(_ path: String) throws(DiskError) {
            errno = 0
            let failure = path.withCString { path in
                var path = path
                return mallctl("prof.dump", nil, nil, &path, MemoryLayout<UnsafePointer<CChar>>.size)
            }
            // jemalloc says EFAULT whatever went wrong.
            if failure != 0 { throw DiskError(path: path, code: errno != 0 ? errno : failure) }
        }
    }
#else
    enum HeapProfiler {
        static let lack: HeapLack? = .notLinked

        static func check() throws(SamplerError) {
            throw SamplerError(message: HeapLack.notLinked.reason, remedy: HeapLack.notLinked.remedy)
        }

        static func walkByFramePointers() {}
        static func setActive(_ isActive: Bool) {}
        static func dump(_ path: String) throws(DiskError) {}
    }
#endif
