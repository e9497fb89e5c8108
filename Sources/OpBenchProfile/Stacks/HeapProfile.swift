import Glibc

/// A dump of jemalloc's heap profiler, `heap_v2/…`: which stacks allocated what is in use, and what was allocated in all.
///
///     heap_v2/1
///       t*: 50: 5600 [70: 7840]
///       t3: 50: 5600 [70: 7840]
///     @ 0x7fb2a16a2630 0x557a025d9186 0x7fb2a1445305
///       t*: 50: 5600 [70: 7840]
///       t3: 50: 5600 [70: 7840]
///
///     MAPPED_LIBRARIES:
///     557a025d9000-557a025da000 r-xp 00001000 fe:00 16360730     /bin/opbench
///
/// `t*` are all threads together; in use, then in brackets in all: allocations, bytes. The figures are jemalloc's size
/// classes. They are of that moment, and without `prof_accum:true` what stands in brackets is 0.
public struct HeapProfile: Equatable, Sendable {
    public struct Figures: Equatable, Sendable {
        public var allocations: Int64
        public var bytes: Int64

        public init(allocations: Int64, bytes: Int64) {
            self.allocations = allocations
            self.bytes = bytes
        }
    }

    public struct Site: Equatable, Sendable {
        /// Those that its calls return to, the innermost first.
        public var addresses: [UInt64]
        /// Not freed so far.
        public var live: Figures
        public var all: Figures
    }

    /// Bytes that pass on the average until the next allocation is sampled, 1 << `lg_prof_sample`. At 1, all are.
    public let samplePeriod: Int64
    public let sites: [Site]
    public let map: CodeMap

    /// - Parameter samplePeriod: as the dump of the same process tells.
    init(samplePeriod: Int64, sites: [Site], map: CodeMap) {
        self.samplePeriod = samplePeriod
        self.sites = sites
        self.map = map
    }

    // MARK: Reading

    /// - Throws: `StackFileError` for anything but a whole dump.
    public init(_ dump: [UInt8]) throws(StackFileError) {
        var lines = dump.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let header = String(decoding: lines.popFirst() ?? [], as: UTF8.self)
        guard header.hasPrefix("heap_v2/"), let period = Int64(header.dropFirst("heap_v2/".count)), period > 0 else {
            throw StackFileError("this is no dump of jemalloc's heap profiler")
        }
        var sites: [Site] = []
        var stack: [UInt64]?
        var sum: Int64 = 0
        var number = 1
        var isWhole = false
        while let line = lines.popFirst() {
            number += 1
            let text = line.drop { $0 == UInt8(ascii: " ") }
            if text.first == UInt8(ascii: "@") {
                stack = try Self.addresses(text.dropFirst(), line: number)
            } else if text.starts(with: "t*:".utf8), let addresses = stack {
                let (live, all) = try Self.figures(text.dropFirst(3), line: number)
                sites.append(Site(addresses: addresses, live: live, all: all))
                stack = nil
                for figure in [live.allocations, live.bytes, all.allocations, all.bytes] {
                    let (next, overflow) = sum.addingReportingOverflow(figure)
                    guard !overflow else { throw StackFileError("line \(number) of the heap's dump is out of range") }
                    sum = next
                }
            } else if text.elementsEqual("MAPPED_LIBRARIES:".utf8) {
                isWhole = true
                break
            }
        }
        guard isWhole, stack == nil else { throw StackFileError("the heap's dump is cut short") }
        samplePeriod = period
        self.sites = sites
        map = CodeMap(maps: lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    private static func addresses(_ text: ArraySlice<UInt8>, line: Int) throws(StackFileError) -> [UInt64] {
        var addresses: [UInt64] = []
        for word in text.split(separator: UInt8(ascii: " ")) {
            guard word.starts(with: "0x".utf8), let address = CodeMap.hexadecimal(word.dropFirst(2)) else {
                throw StackFileError("line \(line) of the heap's dump is no stack")
            }
            addresses.append(address)
        }
        return addresses
    }

    /// ` 50: 5600 [70: 7840]`
    private static func figures(
        _ text: ArraySlice<UInt8>, line: Int
    ) throws(StackFileError) -> (live: Figures, all: Figures) {
        let separators = Set(" :[]".utf8)
        let numbers = text.split { separators.contains($0) }.map { Int64(String(decoding: $0, as: UTF8.self)) ?? -1 }
        guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else {
            throw StackFileError("line \(line) of the heap's dump has no figures")
        }
        return (
            Figures(allocations: numbers[0], bytes: numbers[1]), Figures(allocations: numbers[2], bytes: numbers[3])
        )
    }

    // MARK: Looking

    /// All addresses whose names are needed, in ascending order: of the calls, not of what follows them.
    public var lookUps: [UInt64] {
        sites.reduce(into: Set()) { set, site in set.formUnion(site.addresses.map { $0 &- 1 }) }.sorted()
    }

    /// What a profile counts.
    public enum Measure: String, CaseIterable, Sendable {
        case liveBytes, liveAllocations, allBytes, allAllocations

        public var unit: WeightUnit {
            switch self {
            case .liveBytes, .allBytes: .bytes
            case .liveAllocations, .allAllocations: .allocations
            }
        }

        /// As a title has it.
        public var words: String {
            switch self {
            case .liveBytes: "bytes in use"
            case .liveAllocations: "allocations in use"
            case .allBytes: "bytes allocated"
            case .allAllocations: "allocations"
            }
        }
    }

    /// The stacks by name, with jemalloc's own functions as one. Where allocations were
    /// sampled, the figures are estimates of all.
    ///
    /// - Parameter symbols: the names of `lookUps`.
    public func profile(_ measure: Measure, _ symbols: SymbolTable) -> StackProfile {
        var profile = StackProfile(unit: measure.unit)
        for site in sites {
            let figures =
                switch measure {
                case .liveBytes, .liveAllocations: site.live
                case .allBytes, .allAllocations: site.all
                }
            let weight = estimate(figures, inBytes: measure.unit == .bytes)
            if weight > 0 { profile.add(stack(site, symbols), weight: weight) }
        }
        return profile
    }

    /// An allocation of x bytes is sampled with a probability of 1 − exp(−x / period), the interval between samples
    /// being distributed exponentially: `AdjustSamples` in jemalloc's bin/jeprof.in, from gperftools' pprof.
    private func estimate(_ figures: Figures, inBytes: Bool) -> Int64 {
        let count = inBytes ? figures.bytes : figures.allocations
        guard samplePeriod > 1, figures.allocations > 0, figures.bytes > 0 else { return count }
        let size = Double(figures.bytes) / Double(figures.allocations)
        let all = Double(count) / -expm1(-size / Double(samplePeriod))
        return all < Double(Int64.max / 2) ? Int64(all.rounded()) : .max / 2
    }

    /// jemalloc follows at most that many calls.
    private static let mostFrames = 128

    private func stack(_ site: Site, _ symbols: SymbolTable) -> [StackFrame] {
        var stack = site.addresses.reversed().flatMap { symbols.frames(at: $0 &- 1) }
        // Unwinding by the C library's tables ends where threads begin.
        if stack.count > 1, stack[0].isNamelessLibC, site.addresses.count < Self.mostFrames {
            stack[0] = StackFrame(name: "start_thread", object: stack[0].object)
        }
        // What the allocator does within is not the program's matter. Its own names are often stripped from it.
        while stack.count > 1, Self.isAllocator(stack[stack.count - 2]), Self.isAllocator(stack[stack.count - 1]) {
            stack.removeLast()
        }
        if let last = stack.last, Self.isAllocator(last), last.isUnknown || Self.isInner(last.symbol) {
            stack[stack.count - 1] = StackFrame(name: "malloc", object: last.object)
        }
        return stack
    }

    private static func isInner(_ symbol: String) -> Bool { symbol.hasPrefix("prof_") || symbol.hasPrefix("je_prof_") }

    private static func isAllocator(_ frame: StackFrame) -> Bool {
        frame.object.split(separator: "/").last?.hasPrefix("libjemalloc") ?? false
    }
}
