import Glibc

/// A dump of jemalloc's heap profiler, `heap_v2/…`: the stacks that allocated memory in use, and all allocated memory.
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
/// `t*` is the sum of all threads. Its figures are allocations and bytes in use and, in brackets, in total. They are
/// jemalloc's size classes at the time of the dump; without `prof_accum:true`, the figures in brackets are 0.
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
        /// Return addresses of the calls, the innermost first.
        public var addresses: [UInt64]
        /// Memory in use.
        public var live: Figures
        public var all: Figures
    }

    /// The average number of bytes between sampled allocations, 1 << `lg_prof_sample`. At 1, all are sampled.
    public let samplePeriod: Int64
    public let sites: [Site]
    public let map: CodeMap

    // MARK: Reading

    /// - Throws: `RecordError` unless the dump is complete.
    public init(_ dump: [UInt8]) throws(RecordError) {
        var lines = dump.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let header = String(decoding: lines.popFirst() ?? [], as: UTF8.self)
        guard header.hasPrefix("heap_v2/"), let period = Int64(header.dropFirst("heap_v2/".count)), period > 0 else {
            throw RecordError("this is not a dump of jemalloc's heap profiler")
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
                    guard !overflow else { throw RecordError("line \(number) of the heap's dump is out of range") }
                    sum = next
                }
            } else if text.elementsEqual("MAPPED_LIBRARIES:".utf8) {
                isWhole = true
                break
            }
        }
        guard isWhole, stack == nil else { throw RecordError("the heap's dump is cut short") }
        samplePeriod = period
        self.sites = sites
        map = CodeMap(maps: lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    private static func addresses(_ text: ArraySlice<UInt8>, line: Int) throws(RecordError) -> [UInt64] {
        var addresses: [UInt64] = []
        for word in text.split(separator: UInt8(ascii: " ")) {
            guard word.starts(with: "0x".utf8), let address = CodeMap.hexadecimal(word.dropFirst(2)) else {
                throw RecordError("line \(line) of the heap's dump is not a stack")
            }
            addresses.append(address)
        }
        return addresses
    }

    /// ` 50: 5600 [70: 7840]`
    private static func figures(
        _ text: ArraySlice<UInt8>, line: Int
    ) throws(RecordError) -> (live: Figures, all: Figures) {
        let separators = Set(" :[]".utf8)
        let numbers = text.split { separators.contains($0) }.map { Int64(String(decoding: $0, as: UTF8.self)) ?? -1 }
        guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else {
            throw RecordError("line \(line) of the heap's dump has no figures")
        }
        return (
            Figures(allocations: numbers[0], bytes: numbers[1]), Figures(allocations: numbers[2], bytes: numbers[3])
        )
    }

    // MARK: Looking

    /// All addresses that need names, in ascending order: those of the calls, not of the next instructions.
    public var lookUps: [UInt64] {
        sites.reduce(into: Set()) { set, site in set.formUnion(site.addresses.map { $0 &- 1 }) }.sorted()
    }

    /// The stacks by name, with jemalloc's own functions merged into one. If allocations were sampled, the figures are
    /// estimates of all allocations.
    ///
    /// - Parameters:
    ///   - unit: bytes or allocations.
    ///   - figures: the figures that count.
    ///   - symbols: the names of `lookUps`.
    public func profile(
        _ unit: WeightUnit, of figures: KeyPath<Site, Figures>, _ symbols: SymbolTable
    ) -> StackProfile {
        var profile = StackProfile(unit: unit)
        profile.isWhole = samplePeriod == 1
        for site in sites {
            let figures = site[keyPath: figures]
            let weight = estimate(figures, inBytes: unit == .bytes)
            if weight > 0 { profile.add(stack(site, symbols), weight: weight, of: figures.allocations) }
        }
        return profile
    }

    /// Estimates the total from samples. An allocation of x bytes is sampled with a probability of 1 − exp(−x /
    /// period), since the intervals between samples are exponentially distributed: see `AdjustSamples` in jemalloc's
    /// bin/jeprof.in, from gperftools' pprof.
    private func estimate(_ figures: Figures, inBytes: Bool) -> Int64 {
        let count = inBytes ? figures.bytes : figures.allocations
        guard samplePeriod > 1, figures.allocations > 0, figures.bytes > 0 else { return count }
        let size = Double(figures.bytes) / Double(figures.allocations)
        let all = Double(count) / -expm1(-size / Double(samplePeriod))
        return all < Double(Int64.max / 2) ? Int64(all.rounded()) : .max / 2
    }

    /// jemalloc's limit of stack depth.
    private static let mostFrames = 128

    private func stack(_ site: Site, _ symbols: SymbolTable) -> [StackFrame] {
        var stack = site.addresses.reversed().flatMap { symbols.frames(at: $0 &- 1) }
        // Unwinding by the C library's tables ends at the first function of a thread.
        if stack.count > 1, stack[0].isNamelessLibC, site.addresses.count < Self.mostFrames {
            stack[0] = StackFrame(name: "start_thread", object: stack[0].object)
        }
        // Merges the allocator's internal frames, which are often stripped of names and irrelevant to the program.
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
