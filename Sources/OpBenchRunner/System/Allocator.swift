import CLinuxMeasure
import Glibc

/// Why jemalloc cannot report this process's heap.
enum HeapLack: Error, Sendable, Equatable {
    /// The process has no jemalloc.
    case notLinked
    /// Another malloc comes before jemalloc's, as with a preloaded library. The value is its file's name.
    case displaced(by: String)
    case noStatistics
    case noProfiler

    var reason: String {
        switch self {
        case .notLinked: "this program is not linked with jemalloc"
        case .displaced(let library): "\(library) serves malloc, which jemalloc does not count"
        case .noStatistics: "jemalloc was built without its statistics"
        case .noProfiler: "jemalloc was built without its profiler"
        }
    }

    var remedy: String {
        switch self {
        case .notLinked:
            "link it, or run with LD_PRELOAD=libjemalloc.so.2; opbench itself is linked unless OPBENCH_ALLOCATOR=system"
        case .displaced: "run without the library, which is listed in LD_PRELOAD or /etc/ld.so.preload"
        case .noStatistics: "install a jemalloc that was configured with --enable-stats, such as Debian's libjemalloc2"
        case .noProfiler: "install a jemalloc that was configured with --enable-prof, such as Debian's libjemalloc2"
        }
    }
}

/// The allocator that serves this process. It need not be the one that the program was linked with.
enum Allocator {
    /// The allocator's name, its version if it reports one, and the options that opbench cannot remove. Figures of
    /// different allocators are not comparable.
    static let name = makeName()

    /// Why jemalloc's statistics do not cover this process; nil if they do. Determined once, by allocating.
    static let lack = findLack()

    /// jemalloc options from the name of this link's target, which need not exist.
    ///
    /// - Parameter link: the link; tests pass another one.
    static func machineOptions(_ link: String = "/etc/malloc.conf") -> String? {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &target, target.count)
        return length > 0 ? String(decoding: target[..<length], as: UTF8.self) : nil
    }

    /// The file that provides this process's malloc.
    private static func servingFile() -> String? {
        clinux_file_of_function("malloc").flatMap { String(cString: $0).split(separator: "/").last.map(String.init) }
    }

    private static func ofOtherLibrary() -> String {
        guard let file = servingFile() else { return "unknown malloc" }
        return file.hasPrefix("libc.so") || file.hasPrefix("libc-") ? "system malloc" : file
    }
}

extension Allocator {
    private static func makeName() -> String {
        switch lack {
        case .notLinked?: return ofOtherLibrary()
        case .displaced(let library)?: return library
        case .noStatistics?, .noProfiler?, nil: break
        }
        var version: UnsafePointer<CChar>?
        var size = MemoryLayout<UnsafePointer<CChar>?>.size
        guard clinux_mallctl("version", &version, &size, nil, 0) == 0, let version else { return "jemalloc" }
        return (["jemalloc \(String(cString: version))"] + givenOptions()).joined(separator: ", ")
    }

    /// The options that jemalloc reads elsewhere than in the environment: set at its build, by a program or
    /// library, or for the machine.
    private static func givenOptions() -> [String] {
        var built: UnsafePointer<CChar>?
        var size = MemoryLayout<UnsafePointer<CChar>?>.size
        _ = clinux_mallctl("config.malloc_conf", &built, &size, nil, 0)
        let own = dlsym(nil, "malloc_conf")?.load(as: UnsafePointer<CChar>?.self)
        let options = [built, own].compactMap { $0.map { String(cString: $0) } } + [machineOptions()]
        return options.compactMap(\.self).filter { !$0.isEmpty }
    }

    private static func findLack() -> HeapLack? {
        var size = 0
        guard clinux_mallctl("version", nil, &size, nil, 0) != ENOSYS else { return .notLinked }
        guard countedBytes() != nil else { return .noStatistics }
        return calls.allSatisfy(isCounted) ? nil : .displaced(by: ofOtherLibrary())
    }

    private typealias Call = @Sendable (_ size: Int) -> UnsafeMutableRawPointer?

    /// The allocation functions that C, C++ and Swift's runtime use.
    private static let calls: [Call] = [
        { malloc($0) }, { calloc(1, $0) }, { realloc(malloc(8), $0) },
        { size in
            var block: UnsafeMutableRawPointer?
            return posix_memalign(&block, 64, size) == 0 ? block : nil
        },
    ]

    /// Whether jemalloc counts what this call returns, for a small block and a large one.
    private static func isCounted(_ call: Call) -> Bool {
        [64, 32 << 10].allSatisfy { size in
            guard let before = countedBytes() else { return false }
            let block = allocate(size, by: call)
            let after = countedBytes()
            free(block)
            return after.map { $0 >= before + UInt64(size) } ?? false
        }
    }

    /// Hidden from the optimizer, which would remove a malloc that is freed at once.
    @inline(never)
    private static func allocate(_ size: Int, by call: Call) -> UnsafeMutableRawPointer? { call(size) }

    /// All bytes that jemalloc has given this thread so far.
    private static func countedBytes() -> UInt64? {
        var bytes: UInt64 = 0
        var size = MemoryLayout<UInt64>.size
        return clinux_mallctl("thread.allocated", &bytes, &size, nil, 0) == 0 ? bytes : nil
    }
}
