import CLinuxMeasure
import Glibc
import OpBenchProfile

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
