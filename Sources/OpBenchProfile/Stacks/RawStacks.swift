/// The recording of opbench's own CPU time sampler: stacks of addresses, and the map of code in memory.
public struct RawStacks: Equatable, Sendable, Codable {
    /// 32 bytes.
    public struct Sample: Equatable, Sendable, BitwiseCopyable {
        /// Nanoseconds of CLOCK_MONOTONIC.
        public var time: Int64
        /// Nanoseconds of CPU time that it represents.
        public var weight: Int64
        /// Its addresses are `addresses[first..<first + count]`, the innermost first.
        public var first: Int64
        public var count: UInt32
        /// The index in `threads`.
        public var thread: UInt32

        public init(time: Int64, weight: Int64, first: Int64, count: UInt32, thread: UInt32) {
            self.time = time
            self.weight = weight
            self.first = first
            self.count = count
            self.thread = thread
        }
    }

    public struct Thread: Hashable, Sendable, Codable {
        /// The kernel's thread id.
        public var id: Int32
        /// The name at the time of sampling; a renamed thread has several entries.
        public var name: String

        public init(id: Int32, name: String) {
            self.id = id
            self.name = name
        }
    }

    public var processID: Int32
    /// The requested sampling period in nanoseconds of a thread's CPU time. A sample's weight is a multiple.
    public var period: Int64
    /// The return address of threads' start functions, in the C library; 0 if unknown.
    public var threadStart: UInt64 = 0
    /// Samples that did not fit, and their total weight.
    public var lostSamples: Int64 = 0
    public var lostWeight: Int64 = 0
    /// Threads that were not sampled, because the kernel refused a timer.
    public var unsampledThreads: Int64 = 0
    public var threads: [Thread] = []
    public var samples: [Sample] = []
    /// For each sample, the address of its next instruction, and then the return addresses of its calls.
    public var addresses: [UInt64] = []
    public var map = CodeMap()

    /// Everything but what `RawStacksFile` keeps beside it.
    private enum CodingKeys: String, CodingKey {
        case processID, period, threadStart, lostSamples, lostWeight, unsampledThreads, threads
    }

    public init(processID: Int32, period: Int64) {
        self.processID = processID
        self.period = period
    }

    // MARK: Looking

    /// A copy with only the samples between marks.
    public func during(_ marks: MarkedTime) -> RawStacks {
        var kept = self
        kept.samples = samples.filter { marks.contains($0.time) }
        return kept
    }

    /// A sample's addresses for name lookup: those of the calls, since the return address may belong to the next
    /// function.
    private func lookUps(_ sample: Sample) -> [UInt64] {
        addresses[Int(sample.first)..<Int(sample.first) + Int(sample.count)].enumerated().map { index, address in
            index == 0 || address == 0 ? address : address - 1
        }
    }

    /// All addresses that need names, in ascending order.
    public var lookUps: [UInt64] {
        samples.reduce(into: Set()) { $0.formUnion(lookUps($1)) }.sorted()
    }

    /// The stacks by name.
    ///
    /// - Parameters:
    ///   - symbols: the names of `lookUps`.
    ///   - threadNames: better names than the kernel's, by thread.
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
