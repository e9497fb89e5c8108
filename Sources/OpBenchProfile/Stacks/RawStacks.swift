/// What opbench's own sampler of CPU time collects: stacks of addresses, and where which file's code lay.
public struct RawStacks: Equatable, Sendable {
    /// 32 bytes.
    public struct Sample: Equatable, Sendable, BitwiseCopyable {
        /// Nanoseconds of CLOCK_MONOTONIC.
        public var time: Int64
        /// Nanoseconds of CPU time that it stands for.
        public var weight: Int64
        /// Its addresses are `addresses[first..<first + count]`, the innermost first.
        public var first: Int64
        public var count: UInt32
        /// By its place in `threads`.
        public var thread: UInt32

        public init(time: Int64, weight: Int64, first: Int64, count: UInt32, thread: UInt32) {
            self.time = time
            self.weight = weight
            self.first = first
            self.count = count
            self.thread = thread
        }
    }

    public struct Thread: Hashable, Sendable {
        /// The kernel's.
        public var id: Int32
        /// That it had when it was sampled; a thread that was renamed has several.
        public var name: String

        public init(id: Int32, name: String) {
            self.id = id
            self.name = name
        }
    }

    public var processID: Int32
    /// Nanoseconds of a thread's CPU time from a sample to the next, as it was ordered. A sample's weight is a multiple.
    public var period: Int64
    /// Where the functions that threads start with return to, in the C library; 0 where that is not known.
    public var threadStart: UInt64 = 0
    /// Samples for which there was no room, and what they weighed.
    public var lostSamples: Int64 = 0
    public var lostWeight: Int64 = 0
    /// Threads whose CPU time nobody sampled, since the kernel refused a timer.
    public var unsampledThreads: Int64 = 0
    public var threads: [Thread] = []
    public var samples: [Sample] = []
    /// Of each sample, that of its next instruction, then those that its calls return to.
    public var addresses: [UInt64] = []
    public var map = CodeMap()

    public init(processID: Int32, period: Int64) {
        self.processID = processID
        self.period = period
    }

    // MARK: Looking

    /// The same with those samples alone whose time lies in one of the ranges.
    public func during(_ marks: [Range<Int64>]) -> RawStacks {
        let marks = marks.sorted { $0.lowerBound < $1.lowerBound }
        var kept = self
        kept.samples = samples.filter { sample in
            // The last that begins before it; marks do not overlap.
            var (low, high) = (0, marks.count)
            while low < high {
                let middle = (low + high) / 2
                if marks[middle].lowerBound <= sample.time { low = middle + 1 } else { high = middle }
            }
            return low > 0 && marks[low - 1].contains(sample.time)
        }
        return kept
    }

    /// What a sample's addresses are to be looked up at: a call's own, since what follows it may belong to the next
    /// function.
    private func lookUps(_ sample: Sample) -> [UInt64] {
        addresses[Int(sample.first)..<Int(sample.first) + Int(sample.count)].enumerated().map { index, address in
            index == 0 || address == 0 ? address : address - 1
        }
    }

    /// All addresses whose names are needed, in ascending order.
    public var lookUps: [UInt64] {
        samples.reduce(into: Set()) { $0.formUnion(lookUps($1)) }.sorted()
    }

    /// The stacks by name.
    ///
    /// - Parameters:
    ///   - symbols: the names of `lookUps`.
    ///   - threadNames: by thread, for those that have better names than the kernel knows.
    public func profile(_ symbols: SymbolTable, threadNames: [Int32: String] = [:]) -> StackProfile {
        var profile = StackProfile(unit: .nanoseconds)
        for sample in samples {
            let thread = threads[Int(sample.thread)]
            let addresses = lookUps(sample)
            var stack = addresses.reversed().flatMap { symbols.frames(at: $0) }
            if let outermost = stack.first, outermost.isNamelessLibC, let address = addresses.last {
                if address &+ 1 == threadStart {
                    stack[0] = StackFrame(name: "start_thread", object: outermost.object)
                } else if stack.count > 1, stack[1].symbol == "main" || stack[1].symbol.hasSuffix("_main") {
                    // SwiftPM gives an executable's `main` its own name, for tests.
                    stack[0] = StackFrame(name: "__libc_start_call_main", object: outermost.object)
                }
            }
            profile.add(
                stack, weight: sample.weight, thread: threadNames[thread.id] ?? thread.name, time: sample.time)
        }
        return profile
    }
}
