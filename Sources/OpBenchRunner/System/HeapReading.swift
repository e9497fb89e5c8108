import CLinuxMeasure

/// jemalloc's statistics of the heap, in bytes and counts.
struct HeapReading: Sendable, Equatable {
    var allocated = 0
    var active = 0
    var resident = 0
    var mapped = 0
    var retained = 0
    /// All mallocs so far. Exact to ±2 if the process runs with `MALLOC_CONF=tcache:false`.
    var allocationCount = 0
    /// Total bytes of these allocations, rounded up to size classes.
    var allocatedBytesEver = 0
}

/// Reads jemalloc's statistics. The names are looked up once, so that a reading itself allocates nothing.
struct HeapProbe: Sendable {
    private let allocated, active, resident, mapped, retained, smallCount, largeCount: Control
    private let classes: [(count: Control, size: Int)]

    /// - Throws: the reason why jemalloc's statistics do not cover this process.
    init() throws(HeapLack) {
        if let lack = Allocator.lack { throw lack }
        let all = "stats.arenas.4096"  // MALLCTL_ARENAS_ALL
        guard let allocated = Control("stats.allocated"), let active = Control("stats.active"),
            let resident = Control("stats.resident"), let mapped = Control("stats.mapped"),
            let retained = Control("stats.retained"), let smallCount = Control(all + ".small.nmalloc"),
            let largeCount = Control(all + ".large.nmalloc")
        else { throw .noStatistics }
        self.allocated = allocated
        self.active = active
        self.resident = resident
        self.mapped = mapped
        self.retained = retained
        self.smallCount = smallCount
        self.largeCount = largeCount
        classes =
            Self.classes(all + ".bins", count: "arenas.nbins", size: "arenas.bin")
            + Self.classes(all + ".lextents", count: "arenas.nlextents", size: "arenas.lextent")
    }

    func read() -> HeapReading {
        clinux_mallctl("thread.tcache.flush", nil, nil, nil, 0)
        var epoch: UInt64 = 1
        clinux_mallctl("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size)
        var reading = HeapReading(
            allocated: allocated.read(), active: active.read(), resident: resident.read(), mapped: mapped.read(),
            retained: retained.read(), allocationCount: smallCount.read() + largeCount.read())
        for sizeClass in classes { reading.allocatedBytesEver += sizeClass.count.read() * sizeClass.size }
        return reading
    }

    /// Reads only `allocationCount`, for builds where reading the rest allocates.
    func allocationCount() -> Int {
        var epoch: UInt64 = 1
        clinux_mallctl("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size)
        return smallCount.read() + largeCount.read()
    }

    private static func classes(_ name: String, count: String, size: String) -> [(count: Control, size: Int)] {
        (0..<(Control(count)?.read() ?? 0)).compactMap { index in
            guard let control = Control("\(name).\(index).nmalloc"), let bytes = Control("\(size).\(index).size")
            else { return nil }
            return (control, bytes.read())
        }
    }
}

/// One number of mallctl(3), by its looked-up name.
private struct Control: Sendable {
    private let path: [Int]

    init?(_ name: String) {
        var path = [Int](repeating: 0, count: 8)
        var depth = path.count
        guard clinux_mallctlnametomib(name, &path, &depth) == 0 else { return nil }
        self.path = Array(path[..<depth])
    }

    /// Numbers are 4 or 8 bytes; the upper half of a short one stays 0.
    func read() -> Int {
        var value: UInt64 = 0
        return path.withUnsafeBufferPointer { path in
            var size = 8
            if clinux_mallctlbymib(path.baseAddress, path.count, &value, &size, nil, 0) == 0 { return Int(value) }
            size = 4
            return clinux_mallctlbymib(path.baseAddress, path.count, &value, &size, nil, 0) == 0 ? Int(value) : 0
        }
    }
}
