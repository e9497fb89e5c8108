import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("Dumps of jemalloc's heap profiler")
struct HeapProfileTests {
    static func dump(period: Int = 1) -> String {
        """
        heap_v2/\(period)
          t*: 53: 6112 [73: 8352]
          t0: 50: 5600 [70: 7840]
          t3: 3: 512 [3: 512]
        @ 0x7f2010 0x7f2020 0x551100 0x7f5010
          t*: 50: 5600 [70: 7840]
          t0: 50: 5600 [70: 7840]
        @ 0x7f2010 0x551200
          t*: 3: 512 [3: 512]
          t3: 3: 512 [3: 512]
        @ 0x551200
          t*: 0: 0 [0: 0]

        MAPPED_LIBRARIES:
        550000-551000 r--p 00000000 fe:00 1    /bin/opbench
        551000-552000 r-xp 00001000 fe:00 1    /bin/opbench
        7f2000-7f3000 r-xp 00000000 fe:00 2    /usr/lib/libjemalloc.so.2
        7f5000-7f6000 r-xp 00000000 fe:00 3    /usr/lib/libc.so.6

        """
    }

    private func message(_ text: String) -> String? {
        do {
            _ = try HeapProfile(Array(text.utf8))
            return nil
        } catch {
            return error.message
        }
    }

    private func symbols(_ heap: HeapProfile) -> SymbolTable {
        var symbols = SymbolTable(map: heap.map)
        symbols.name(0x7F200F, ["prof_backtrace"])
        symbols.name(0x7F201F, ["calloc"])
        symbols.name(0x5510FF, ["make"])
        symbols.name(0x5511FF, ["main"])
        return symbols
    }

    @Test("Sites, figures and mappings")
    func sites() throws {
        let heap = try HeapProfile(Array(Self.dump().utf8))
        #expect(heap.samplePeriod == 1)
        #expect(
            heap.sites.map(\.addresses) == [
                [0x7F2010, 0x7F2020, 0x551100, 0x7F5010], [0x7F2010, 0x551200], [0x551200],
            ])
        #expect(heap.sites[0].live == HeapProfile.Figures(allocations: 50, bytes: 5600))
        #expect(heap.sites[0].all == HeapProfile.Figures(allocations: 70, bytes: 7840))
        #expect(heap.map.mappings.map(\.base) == [0x550000, 0x7F2000, 0x7F5000])
        #expect(heap.lookUps == [0x5510FF, 0x5511FF, 0x7F200F, 0x7F201F, 0x7F500F])
    }

    @Test("By name: the allocator's functions are one, and the C library's unnamed start has a name")
    func profile() throws {
        let heap = try HeapProfile(Array(Self.dump().utf8))
        let symbols = symbols(heap)
        for (unit, figures, expected) in [
            (.bytes, \.live, 6112), (.allocations, \.live, 53), (.bytes, \.all, 8352), (.allocations, \.all, 73),
        ] as [(WeightUnit, KeyPath<HeapProfile.Site, HeapProfile.Figures>, Int64)] {
            let profile = heap.profile(unit, of: figures, symbols)
            #expect(profile.total == expected)
            #expect(profile.unit == unit)
            #expect(
                profile.samples.map { profile.stack($0.stack).map { profile.frames[Int($0)].name } } == [
                    ["start_thread", "make", "calloc"], ["main", "malloc"],
                ])
            #expect(ClassTable(profile, on: .engine).unknownCallers == 0)
        }
    }

    /// 1 / (1 − exp(−112 / 128)) = 1.7147…, 1 / (1 − exp(−170.67 / 128)) = 1.3578…
    @Test("Sampled allocations are scaled up to all allocations")
    func sampled() throws {
        let heap = try HeapProfile(Array(Self.dump(period: 128).utf8))
        let counts = heap.profile(.allocations, of: \.live, symbols(heap))
        #expect(counts.samples.map(\.weight) == [86, 4])
        #expect(heap.profile(.allocations, of: \.all, symbols(heap)).samples.map(\.weight) == [120, 4])
        #expect(heap.profile(.bytes, of: \.live, symbols(heap)).samples.map(\.weight) == [9603, 695])
        // √(86² ÷ 50 + 4² ÷ 3) ÷ (2 · 90).
        let report = StackReport(counts, on: .engine, operations: 0)
        #expect(counts.samples.map(\.count) == [50, 3] && abs(report.standardError - 0.068775) < 1e-6)
        #expect(heap.profile(.bytes, of: \.all, symbols(heap)).samples.map(\.count) == [70, 3])
        Golden("stack-report").expect(report.lines().joined(separator: "\n"), "a part of the allocations")
        // Where each allocation is a sample, nothing is left to chance.
        let whole = try HeapProfile(Array(Self.dump().utf8)).profile(.bytes, of: \.live, symbols(heap))
        #expect(whole.samples.map(\.count) == [50, 3])
        #expect(StackReport(whole, on: .engine, operations: 0).standardError == 0)
    }

    @Test("Incomplete dumps are rejected")
    func refused() {
        let (dump, line) = (Self.dump(), "t*: 3: 512 [3: 512]")
        let refused = [
            ("empty", ""), ("period 0", "heap_v2/0\n"), ("period x", "heap_v2/x\n"),
            ("cut short", String(dump.prefix { $0 != "M" })),
            ("no address", dump.replacingOccurrences("0x551100", "551100")),
            ("no hexadecimal", dump.replacingOccurrences("0x551100", "0x55110g")),
            ("a figure missing", dump.replacingOccurrences(line, "t*: 3: 512 [3]")),
            ("a negative figure", dump.replacingOccurrences(line, "t*: 3: 512 [3: -5]")),
            ("overflow", dump.replacingOccurrences(line, "t*: 3: 512 [9223372036854775807: 5]")),
        ].map { ($0, message($1)) }
        #expect(refused.allSatisfy { $0.1 != nil })
        Golden("heap-dump-refusals").expect(
            refused.map { "\($0): \($1 ?? "")" }.joined(separator: "\n"), "dumps of jemalloc's")
    }

    @Test("If any byte changes, the dump is rejected, or everything can be computed from it")
    func hostile() throws {
        let whole = Array(Self.dump(period: 128).utf8)
        var taken = 0
        for place in whole.indices {
            for change: UInt8 in [0x01, 0x08, 0x80, 0xFF] {
                var copy = whole
                copy[place] ^= change
                guard let heap = try? HeapProfile(copy) else { continue }
                taken += 1
                for unit in [WeightUnit.bytes, .allocations] {
                    for figures in [\HeapProfile.Site.live, \.all] {
                        let profile = heap.profile(unit, of: figures, symbols(heap))
                        _ = StackReport(profile, on: .engine, operations: 3).lines()
                    }
                }
            }
        }
        #expect(taken > 100)
    }
}

extension String {
    fileprivate func replacingOccurrences(_ part: String, _ other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
