import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("Profiles of stacks")
struct StackTests {
    static func frames(_ names: String...) -> [StackFrame] {
        names.map { StackFrame(name: $0, object: "/bin/opbench") }
    }

    /// main → a → b 30, main → a 10, main → a → a → b 5, main → c 15.
    static var profile: StackProfile {
        var profile = StackProfile(unit: .nanoseconds)
        profile.add(frames("main", "a", "b"), weight: 20, thread: "engine normal 1", time: 1)
        profile.add(frames("main", "a", "b"), weight: 10, thread: "engine normal 2", time: 2)
        profile.add(frames("main", "a"), weight: 10, thread: "engine normal 1", time: 3)
        profile.add(frames("main", "a", "a", "b"), weight: 5, thread: "engine normal 1", time: 4)
        profile.add(frames("main", "c"), weight: 15, thread: "engine normal 1", time: 5)
        return profile
    }

    @Test("Stacks and frames are stored once")
    func interned() {
        let profile = Self.profile
        #expect(profile.frames.map(\.name) == ["main", "a", "b", "c"])
        #expect(profile.nodes.count == 7)
        #expect(profile.samples.count == 5)
        #expect(profile.total == 60)
        #expect(
            profile.stack(profile.samples[3].stack).map { profile.frames[Int($0)].name } == ["main", "a", "a", "b"])
        #expect(profile.nodes.indices.dropFirst().allSatisfy { profile.nodes[$0].parent < $0 })
    }

    @Test("A function's own weight, and with its callees, once for each sample")
    func functions() {
        let functions = Self.profile.functions()
        #expect(functions.map(\.frame.name) == ["b", "c", "a", "main"])
        #expect(functions.map(\.own) == [35, 15, 10, 0])
        #expect(functions.map(\.withCallees) == [35, 15, 45, 60])
    }

    @Test("Samples between two marks, and of one thread")
    func filtered() {
        let between = Self.profile.filtered { (2..<4).contains($0.time) }
        #expect(between.total == 20)
        #expect(between.samples.map(\.time) == [2, 3])
        let profile = Self.profile
        #expect(profile.filtered { profile.threads[Int($0.thread)] == "engine normal 2" }.total == 10)
    }

    @Test("Weights that would overflow, and negative ones, are rejected; deep stacks are cut")
    func limits() {
        var profile = StackProfile(unit: .bytes)
        let added = [Int64.max, 1, -1].map { profile.add([], weight: $0) }
        #expect(added == [true, false, false])
        #expect(profile.total == .max)
        #expect(profile.samples.count == 1)
        var deep = StackProfile(unit: .bytes)
        deep.add((0..<5000).map { StackFrame(name: "f\($0)") }, weight: 1)
        let stack = deep.stack(deep.samples[0].stack)
        #expect(stack.count == StackProfile.mostFrames)
        #expect(deep.frames[Int(stack.last!)].name == "f4999")
    }

    @Test("Folded stacks: one line per stack, in order, without the format's special characters")
    func folded() {
        #expect(
            Self.profile.folded() == """
                engine normal 1;main;a 10
                engine normal 1;main;a;a;b 5
                engine normal 1;main;a;b 20
                engine normal 1;main;c 15
                engine normal 2;main;a;b 10

                """)
        var hostile = StackProfile(unit: .nanoseconds)
        hostile.add([StackFrame(name: "a;b\nc"), StackFrame(name: "d e 7")], weight: 3)
        hostile.add([], weight: 4)
        #expect(hostile.folded() == "[no stack] 4\na:b\\nc;d e 7 3\n")
    }

    private func expectGolden(_ profile: StackProfile, operations: Int, functions: Int = 10, _ section: String) {
        let lines = StackReport(profile, on: .engine, operations: operations).lines(functions: functions)
        Golden("stack-report").expect(lines.joined(separator: "\n"), section)
    }

    @Test("A heap profile has the same views, in its own unit")
    func heap() {
        var heap = StackProfile(unit: .bytes)
        heap.add(Self.frames("main", "make"), weight: 2048)
        expectGolden(heap, operations: 4, "bytes")
        var counts = StackProfile(unit: .allocations)
        counts.add(Self.frames("main", "make"), weight: 1)
        expectGolden(counts, operations: 0, "allocations")
    }

    // MARK: Classes

    @Test(
        "The class of a function",
        arguments: [
            ("$s15OperationEngine9QueueCoreC3runyyF", "/b/opbench", .queue("engine")),
            ("$s20OpBenchEngineBackend5RoundV3runyyF", "/b/opbench", .workload),
            ("clinux_burn", "/b/opbench", .workload), ("clinux_futex_wait", "/b/opbench", .futex),
            // A closure of the backend with the engine's queue as an argument.
            ("$s20OpBenchEngineBackend5RoundV3runyy15OperationEngine0fG5QueueCF", "/b/opbench", .workload),
            // The standard library's code, specialized for the engine's types.
            ("$sSa6appendyyxnF15OperationEngine9ReadyItemV_Tg5", "/b/opbench", .queue("engine")),
            ("$sSa6appendyyxnF", "/usr/lib/swift/linux/libswiftCore.so", .swiftRuntime),
            ("OperationEngine.QueueCore.run() -> ()", "/b/opbench", .queue("engine")),
            (
                "closure #1 () -> () in OpBenchBackends.Body.run(OperationEngine.OperationQueue) -> ()", "/b/opbench",
                .workload
            ),
            ("generic specialization <Swift.Int> of Swift.Array.append(A) -> ()", "/b/opbench", .swiftRuntime),
            ("$ss22__RawDictionaryStorageC4find_9hashValueys6UInt32V_Tg5", "/b/opbench", .swiftRuntime),
            ("[unknown]", "/usr/lib/swift/linux/libswiftCore.so", .swiftRuntime), ("memcpy@plt", "/b/opbench", .libc),
            ("swift_release@plt", "/b/opbench", .references),
            ("__swift_instantiateConcreteTypeFromMangledName", "/b/opbench", .swiftRuntime),
            ("swift_retain", "/b/opbench", .references), ("_swift_release_dealloc", "libswiftCore.so", .references),
            ("swift_bridgeObjectRelease", "", .references), ("swift_allocObject", "", .allocation),
            ("swift_deallocClassInstance", "", .allocation), ("swift_getGenericMetadata", "", .swiftRuntime),
            ("swift_dynamicCast", "", .swiftRuntime), ("malloc", "/lib/libc.so.6", .allocation),
            ("_int_free", "/lib/libc.so.6", .allocation), ("je_arena_tcache_fill_small", "/b/opbench", .allocation),
            ("anything", "/usr/lib/libjemalloc.so.2", .allocation), ("syscall", "/lib/libc.so.6", .futex),
            ("__GI___pthread_mutex_lock", "/lib/libc.so.6", .futex), ("pthread_create@@GLIBC_2.34", "", .futex),
            ("__memmove_avx_unaligned_erms", "/lib/x86_64-linux-gnu/libc.so.6", .libc),
            ("do_syscall_64", "[kernel.kallsyms]", .kernel), ("ext4_write", "[ext4]", .kernel),
            ("[unknown]", "[kernel.kallsyms]", .kernel), ("__vdso_clock_gettime", "[vdso]", .libc),
            ("[unknown]", "/b/opbench", .unknown), ("[unknown]", "", .unknown), ("hot", "", .unknown),
            // Other modules of a program, in Swift and in C, and libraries that it loads.
            ("hot", "/tmp/a", .library), ("f.part.0", "/tmp/a", .library),
            ("$s8NIOPosix13NIOThreadPoolC7processyyF", "/tmp/a", .library),
            ("NIOPosix.NIOThreadPool.process() -> ()", "", .library),
            ("[unknown]", "/usr/lib/libz.so.1", .library), ("deflate", "/usr/lib/libz.so.1", .library),
            ("$s15Synchronization6AtomicV5storeyyF", "/tmp/a", .swiftRuntime),
            ("$s8Dispatch0A5QueueC5asyncyyF", "/tmp/a", .library), ("nio_thread_pool_main", "/tmp/a", .workload),
            ("_dispatch_worker_thread", "/usr/lib/swift/linux/libdispatch.so", .library),
            ("$s10Foundation14OperationQueueC", "/usr/lib/swift/linux/libFoundation.so", .library),
            ("$s", "/b/opbench", .unknown), ("$s99999999999999999999a", "/b/opbench", .unknown),
        ] as [(String, String, FrameClass)])
    func classes(symbol: String, object: String, expected: FrameClass) {
        let name = symbol == "swift_retain" ? symbol : SwiftDemangler.demangle(symbol) ?? symbol
        let frame = StackFrame(name: name, symbol: symbol, object: object)
        #expect(FrameClassifier(.engine).classify(frame) == expected)
    }

    @Test("The queue's own code is that of the profiled backend, and other queues are other modules")
    func queues() throws {
        let code: [(frame: StackFrame, owner: String)] = [
            ("OperationEngine.QueueCore.run() -> ()", "/b/opbench", "engine"),
            ("_dispatch_worker_thread", "/usr/lib/swift/linux/libdispatch.so", "dispatch"),
            ("Dispatch.DispatchQueue.sync() -> ()", "/tmp/a", "dispatch"),
            ("Foundation.OperationQueue._schedule() -> ()", "/usr/lib/swift/linux/libFoundation.so", "foundation"),
            ("[unknown]", "/usr/lib/swift/linux/libswift_Concurrency.so", "concurrency"),
            ("Pools.Pool.run() -> ()", "/tmp/a", "mine"),
        ].map { (StackFrame(name: $0.0, object: $0.1), $0.2) }
        let declared = ["mine", "mine:fast", "other"].map {
            BackendDefinition(
                declared: BackendID(rawValue: $0), summary: "s", module: $0 == "other" ? "Others" : "Pools")
        }
        for backend in [
            "engine", "engine:within", "dispatch:notify", "foundation", "concurrency", "mine:fast", "other",
        ] {
            let classifier = FrameClassifier(BackendID(rawValue: backend), declared: declared)
            let family = String(backend.prefix { $0 != ":" })
            #expect(classifier.classes.first?.words == family)
            for (frame, owner) in code {
                #expect(
                    classifier.classify(frame) == (owner == family ? .queue(family) : .library),
                    "\(frame.name) on \(backend)")
            }
        }
    }

    @Test("The table's rows add up to the total, and stacks without a start are reported")
    func table() throws {
        var profile = Self.profile
        profile.add([StackFrame(name: "memmove", object: "/lib/libc.so.6")], weight: 30)
        profile.add(Self.frames("start_thread", "swift_retain"), weight: 7)
        profile.add([], weight: 3)
        let table = ClassTable(profile, on: .engine)
        #expect(table.total == 100)
        #expect(table.rows.map(\.weight).reduce(0, +) == 100)
        #expect(table.rows.count == FrameClassifier(.engine).classes.count)
        func weight(_ frameClass: FrameClass) -> Int64? { table.rows.first { $0.frameClass == frameClass }?.weight }
        #expect(weight(.libc) == 30)
        #expect(weight(.references) == 7)
        // Code outside the benchmark and the system libraries is another module of the program.
        #expect(weight(.library) == 60)
        #expect(weight(.unknown) == 3)
        #expect(table.unknownCallers == 33)
        #expect(table.unknownCallersShare == 0.33)
        expectGolden(profile, operations: 10, functions: 1, "one function")
        expectGolden(StackProfile(unit: .bytes), operations: 1, "nothing")
    }

    @Test("Shares of few samples have their standard error; one heavy sample makes many count as few")
    func fewSamples() {
        for weights: [Int64] in [
            Array(repeating: 4, count: 100), Array(repeating: 4, count: 25), [1],
            Array(repeating: 1, count: 400) + [400],
        ] {
            var profile = StackProfile(unit: .nanoseconds)
            for weight in weights { profile.add(Self.frames("main"), weight: weight) }
            expectGolden(profile, operations: 1, "\(weights.count) samples, the last of \(weights.last!)")
        }
    }

    @Test("Modules of a program are below their class by name, the heaviest first")
    func modules() {
        var profile = StackProfile(unit: .nanoseconds)
        let (pool, file) = ("$s8NIOPosix13NIOThreadPoolC7processyyF", "/b/nio-thread-pool")
        for (symbol, object, weight) in [
            (pool, file, 50), ("$s7NIOCore10ByteBufferV5writeyyF", file, 10), ("CNIOAtomics_load", file, 20),
            ("deflate", "/usr/lib/libz.so.1", 5), (StackFrame.unknownName, file, 15),
        ] {
            let name = SwiftDemangler.demangle(symbol) ?? symbol
            profile.add(
                Self.frames("start_thread") + [StackFrame(name: name, symbol: symbol, object: object)],
                weight: Int64(weight))
        }
        let table = ClassTable(profile, on: .engine)
        #expect(table.modules.map(\.name) == ["NIOPosix", "nio-thread-pool", "NIOCore", "libz.so.1"])
        #expect(table.modules.map(\.weight) == [50, 20, 10, 5])
        #expect(table.rows.first { $0.frameClass == .library }?.weight == 85)
        #expect(table.rows.first { $0.frameClass == .unknown }?.weight == 15)
        expectGolden(profile, operations: 10, functions: 0, "modules")
    }

    @Test("Summaries show names without modules and types, unless two become equal")
    func shortNames() {
        let whole = "OperationEngine.WorkerPool.park(OperationEngine.Worker) -> Swift.Bool"
        var profile = StackProfile(unit: .nanoseconds)
        profile.add(Self.frames("opbench_main", whole), weight: 1)
        #expect(StackReport(profile, on: .engine, operations: 1).lines().last?.hasSuffix(": opbench_main") == true)
        #expect(
            StackReport.shortened([whole, "malloc", "A.f(A.X) -> ()", "B.f(B.Y) -> ()"], first: 4)
                == ["WorkerPool.park(_:)", "malloc", "A.f(A.X) -> ()", "B.f(B.Y) -> ()"])
        #expect(FrameClassifier(.engine).classify(profile.frames[0]) == .workload)
    }

    @Test("A heap profile names the allocating function instead of malloc")
    func allocators() {
        var profile = StackProfile(unit: .bytes)
        let maker = "OperationEngine.Operation.linkDependency(OperationEngine.Operation) -> ()"
        profile.add(Self.frames("main", maker, "swift_slowAlloc", "malloc"), weight: 640)
        profile.add(Self.frames("main", "malloc"), weight: 160)
        expectGolden(profile, operations: 10, "who allocates")
    }
}
