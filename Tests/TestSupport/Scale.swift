import Glibc
import Testing

/// The words of `OPBENCH_TEST` for a test run, separated by commas: `short`, `deep`, `golden`, `leftovers`, `list`,
/// `seed=7`, `size=100000`, `patience=60`. `scripts/test` sets the words; the values are for a test that is run by
/// itself.
public enum TestRun {
    private static let words = getenv("OPBENCH_TEST").map { String(cString: $0).split(separator: ",") } ?? []

    public static func has(_ word: String) -> Bool { words.contains { $0 == word } }

    /// The value of `name=`.
    public static func number<Number: FixedWidthInteger>(_ name: String) -> Number? {
        words.first { $0.hasPrefix("\(name)=") }.flatMap { Number($0.dropFirst(name.utf8.count + 1)) }
    }
}

/// The sizes of large tests.
public enum Scale {
    /// Whether this run is one of the short loops of `scripts/test`: large tests are small, and slow ones are left out.
    public static let isShort = TestRun.has("short")
    /// Whether searches through a number of cases go through all that their bounds allow: `scripts/test --deep`.
    public static let isDeep = TestRun.has("deep")
    /// Whether the process runs under ThreadSanitizer.
    public static let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
    /// Whether the process runs under ThreadSanitizer or AddressSanitizer.
    public static let isSanitized = isThreadSanitized || dlsym(nil, "__asan_init") != nil

    /// `size`, or a twentieth of it under a sanitizer and in a short loop.
    public static func of(_ size: Int) -> Int {
        isSanitized || isShort ? max(1, size / 20) : size
    }
}

extension Trait where Self == ConditionTrait {
    /// For a test, or a suite, that takes more than some three seconds even at a twentieth of its size:
    /// `scripts/test --engine` and `--fast` leave it out, and nothing else does.
    public static var slow: Self { .disabled(if: Scale.isShort, "slow: left out of the short loops of scripts/test") }
}

/// SplitMix64, a small generator whose sequence depends on the seed alone.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The seed of a random test: that of `OPBENCH_TEST=seed=7`, or a fresh one. It is printed, so that a failure
/// can be replayed.
public func announcedSeed(_ test: String) -> UInt64 {
    let seed = TestRun.number("seed") ?? UInt64.random(in: 0...UInt64(UInt32.max))
    print("\(test): replay with OPBENCH_TEST=seed=\(seed)")
    return seed
}
