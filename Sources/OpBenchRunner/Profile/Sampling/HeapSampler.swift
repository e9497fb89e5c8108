import CLinuxMeasure
import Glibc
import OpBenchModel

/// Records the stacks that allocate between the marks, with jemalloc's own profiler.
///
/// jemalloc would unwind by exception tables (prof_libgcc), which is slow and stops at Swift functions without them.
/// The frame pointer walk of `SignalSampler` replaces it.
///
/// The process must be started with `environment`. Not thread-safe.
final class HeapSampler: ProfileRecorder {
    /// Dump at the fence of the first round: the memory in use there.
    static let liveFile = "heap.1.heap"
    /// Dump at the end: the allocations of all rounds, in the bracketed columns.
    static let allFile = "heap.all.heap"

    /// The number of allocations by jemalloc's counters, in the first round and in all rounds. They include the
    /// profiler's own allocations for each new stack.
    static let countsFile = "heap.counts"

    /// The jemalloc settings that a process with this sampler must be started with.
    ///
    /// - Parameter lgSample: an allocation is sampled every 2^lgSample bytes on average; 0 samples each.
    static func environment(lgSample: Int = 0) -> [String: String] {
        // Without a thread cache, every free is seen when it happens, and counts are exact.
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

    /// - Parameter folder: the folder for the dumps.
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
        // Before the dump, so that it shows none of the other threads' work while it is written.
        HeapProfiler.setActive(false)
        counts.all += (probe?.allocationCount() ?? 0) - before
        rounds += 1
        if rounds > 1 { return }
        counts.first = counts.all
        dump(Self.liveFile)
    }

    /// - Throws: `DiskError`, after removing the files.
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

/// jemalloc's profiler, through mallctl(3).
enum HeapProfiler {
    static func check() throws(SamplerError) {
        if let lack { throw SamplerError(message: lack.reason, remedy: lack.remedy) }
        guard flag("opt.prof") == true else {
            throw SamplerError(message: "jemalloc's profiler is not on", remedy: "start with MALLOC_CONF=prof:true")
        }
    }

    /// Works from jemalloc 5.3 on; older versions keep their own unwinding.
    static func walkByFramePointers() {
        clinux_profile_use(StackWalk.make())
        var walk =
            clinux_profile_backtrace
            as @convention(c) (
                UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<UInt32>?, UInt32
            ) -> Void
        clinux_mallctl("experimental.hooks.prof_backtrace", nil, nil, &walk, MemoryLayout.size(ofValue: walk))
    }

    /// Why this process cannot profile its heap, whatever its settings; nil if it can.
    static var lack: HeapLack? { Allocator.lack ?? (flag("config.prof") == true ? nil : .noProfiler) }

    /// The file of jemalloc's library; nil if jemalloc is part of this program.
    static var library: String? {
        guard let file = clinux_file_of_function("mallctl").map({ String(cString: $0) }) else { return nil }
        return file.contains(".so") ? file : nil
    }

    private static func flag(_ name: String) -> Bool? {
        var value = false
        var size = MemoryLayout<Bool>.size
        return clinux_mallctl(name, &value, &size, nil, 0) == 0 ? value : nil
    }

    static func setActive(_ isActive: Bool) {
        var isActive = isActive
        clinux_mallctl("prof.active", nil, nil, &isActive, MemoryLayout<Bool>.size)
    }

    static func dump(_ path: String) throws(DiskError) {
        errno = 0
        let failure = path.withCString { path in
            var path = path
            return clinux_mallctl("prof.dump", nil, nil, &path, MemoryLayout<UnsafePointer<CChar>>.size)
        }
        // jemalloc returns EFAULT for any failure.
        if failure != 0 { throw DiskError(path: path, code: errno != 0 ? errno : failure) }
    }
}
