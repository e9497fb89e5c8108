import OpBenchModel

/// The kind of code that a function belongs to.
public enum FrameClass: Hashable, Sendable {
    /// The measured queue's own code, by the name of its backend without a form.
    case queue(String)
    /// Bodies of operations, and the adapter that submits operations.
    case workload
    /// Other code of the program, such as a library that the queue wraps. `FrameClassifier.module(of:)` names it.
    case library
    /// Swift's reference counting.
    case references
    /// Objects and memory: Swift's runtime, malloc.
    case allocation
    /// The rest of Swift's runtime and standard library.
    case swiftRuntime
    /// Waiting and threads: the C library's side of futexes.
    case futex
    case libc
    case kernel
    /// Neither name nor file is known.
    case unknown

    /// All classes except the queue's.
    static let others: [FrameClass] = [
        .workload, .library, .references, .allocation, .swiftRuntime, .futex, .libc, .kernel, .unknown,
    ]

    public var words: String {
        switch self {
        case .queue(let backend): backend
        case .workload: "workload"
        case .library: "other modules"
        case .references: "retain, release"
        case .allocation: "allocation"
        case .swiftRuntime: "Swift runtime"
        case .futex: "futex, threads"
        case .libc: "libc"
        case .kernel: "kernel"
        case .unknown: "unknown"
        }
    }
}

/// The code of a library of queues, such as that of a backend.
private struct QueueLibrary {
    /// Swift modules.
    var modules: [String]
    /// Prefixes of the names of files.
    var files: [String] = []

    func has(_ file: String) -> Bool { files.contains { file.hasPrefix($0) } }

    static let engine = QueueLibrary(
        modules: ["OperationEngine", "OperationEngineProgress", "OperationEngineFoundation"])
    static let dispatch = QueueLibrary(modules: ["Dispatch"], files: ["libdispatch", "libBlocksRuntime"])

    /// By the name of the backend, without a form.
    static let builtIn = [
        BackendID.engine.family: engine,
        BackendID.foundation.family: QueueLibrary(
            modules: ["Foundation", "FoundationEssentials"], files: ["libFoundation", "lib_Foundation"]),
        BackendID.dispatch.family: dispatch,
        BackendID.concurrency.family: QueueLibrary(modules: ["_Concurrency"], files: ["libswift_Concurrency"]),
        "tbb": QueueLibrary(modules: [], files: ["libtbb"]),
    ]
}

/// Classifies functions in profiles of a backend, by their file and then by their name.
public struct FrameClassifier: Sendable {
    /// The class of the backend's own code.
    private let queue: FrameClass
    private let isEngine: Bool
    private let library: QueueLibrary
    /// Swift modules of the backend, of the engine, and of the queues that the program declares.
    private let ownModules: [String]
    /// Prefixes of the benchmark's own modules.
    private static let workloadModules = ["OpBench", "opbench"]

    /// The engine's types for waiting and waking between threads.
    private static let primitives = ["FutexLock", "LockTurns", "Futex", "Parker"]

    public init(_ backend: BackendID) { self.init(backend, declared: DeclaredBackends.definitions) }

    /// - Parameter declared: the backends that the program declares.
    init(_ backend: BackendID, declared: [BackendDefinition]) {
        let family = backend.family
        library =
            QueueLibrary.builtIn[family]
            ?? QueueLibrary(modules: declared.filter { $0.id.family == family }.compactMap(\.module))
        queue = .queue(family)
        isEngine = family == BackendID.engine.family
        ownModules = library.modules + QueueLibrary.engine.modules + declared.compactMap(\.module)
    }

    /// Whether a function belongs to the engine's package, which beside the engine has its recorder and the like.
    func isOfEngine(_ frame: StackFrame) -> Bool { module(of: frame)?.hasPrefix("OperationEngine") ?? false }

    func isOfDispatch(_ frame: StackFrame) -> Bool { module(of: frame).map(QueueLibrary.dispatch.has) ?? false }

    /// All classes of functions, in the order of tables.
    public var classes: [FrameClass] { [queue] + FrameClass.others }

    /// Whether a function of the queue, the workload or another module of the program is responsible for its own work.
    /// Helpers that work for their caller are not: the engine's primitives for waiting, its C shims, Dispatch unless it is
    /// the queue, allocating initializers, and generic code of the standard library that was specialized for our types.
    public func isAnswerable(_ frame: StackFrame) -> Bool {
        let kind = classify(frame)
        guard [queue, .workload, .library].contains(kind), !frame.symbol.hasPrefix("clinux_"), frame.symbol != "main"
        else { return false }
        if kind == .library, isOfDispatch(frame) { return false }
        let path = SwiftName(frame.name).path
        if path.hasPrefix("\(Self.standardLibrary).") || path.contains(".__allocating_init(") { return false }
        return !isPrimitive(path)
    }

    /// Whether a function is one of the engine's primitives for waiting.
    func isPrimitive(_ path: Substring) -> Bool {
        ownModules.contains { module in Self.primitives.contains { path.hasPrefix("\(module).\($0).") } }
    }

    public func classify(_ frame: StackFrame) -> FrameClass {
        let file = frame.object.split(separator: "/").last.map(String.init) ?? ""
        if isKernel(frame.object) { return .kernel }
        if frame.isUnknown { return byFile(file) ?? (Self.isLibrary(file) ? .library : .unknown) }
        // A call through the program's linkage table for libraries.
        let isStub = frame.symbol.hasSuffix("@plt")
        if let byName = byName(isStub ? String(frame.symbol.dropLast(4)) : frame.symbol) { return byName }
        if isStub { return .libc }
        if let module = swiftModule(of: frame) {
            if library.modules.contains(module) { return queue }
            if Self.workloadModules.contains(where: { module.hasPrefix($0) }) { return .workload }
            if Self.standardModules.contains(module) { return .swiftRuntime }
        }
        if let byFile = byFile(file) { return byFile }
        return module(of: frame) == nil ? .unknown : .library
    }

    /// The module of a function: its Swift module, or the name of its file. Nil if neither is known.
    public func module(of frame: StackFrame) -> String? {
        let file = frame.object.split(separator: "/").last.map(String.init) ?? ""
        if frame.isUnknown { return Self.isLibrary(file) ? file : nil }
        let isMangled = ["$s", "$S", "_$s"].contains { frame.symbol.hasPrefix($0) }
        // C compilers put periods into names: `f.part.0`.
        if isMangled || frame.name.contains("(") || frame.name.contains(" ") {
            if let module = swiftModule(of: frame) { return module }
        }
        return isMangled || file.isEmpty || file.hasPrefix("[") ? nil : file
    }

    private static func isLibrary(_ file: String) -> Bool { file.hasSuffix(".so") || file.contains(".so.") }

    /// Modules of Swift's standard library, whose code may be compiled into any file.
    private static let standardModules: Set<String> = [standardLibrary, "Synchronization"]

    /// perf prints the kernel's modules in brackets: `[kernel.kallsyms]`, `[ext4]`.
    private func isKernel(_ object: String) -> Bool {
        let own = ["[vdso]", "[unknown]", "[heap]", "[stack]", "[vsyscall]", "[anon]", "[inlined]"]
        return object.hasPrefix("[") && !own.contains(object) && !object.hasPrefix("[anon:")
    }

    // MARK: By name

    private static let references = [
        "swift_retain", "swift_release", "_swift_retain_", "_swift_release_", "swift_bridgeObjectRetain",
        "swift_bridgeObjectRelease", "swift_unknownObjectRetain", "swift_unknownObjectRelease", "swift_weak",
        "swift_unowned", "swift_nonatomic_retain", "swift_nonatomic_release", "swift_tryRetain",
        "swift_isUniquelyReferenced", "swift_setDeallocating",
    ]
    private static let allocations = [
        "swift_allocObject", "_swift_allocObject_", "swift_deallocClassInstance", "swift_deallocObject",
        "swift_dealloc",
        "swift_slowAlloc", "swift_slowDealloc", "swift_initStackObject", "swift_initStaticObject", "swift_allocBox",
        "swift_deallocBox", "swift_task_alloc", "swift_task_dealloc", "swift_slowAllocTyped", "swift_projectBox",
    ]
    /// Functions of glibc and of jemalloc, whose internal functions have no common prefix.
    private static let mallocs: Set<String> = [
        "malloc", "free", "calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign", "cfree", "_int_malloc",
        "_int_free", "_int_realloc", "malloc_consolidate", "unlink_chunk", "sysmalloc", "systrim", "tcache_init",
        "malloc_usable_size", "mallocx", "sdallocx", "dallocx", "rallocx", "operator new(unsigned long)",
        "operator delete(void*)", "_Znwm", "_ZdlPv", "_ZdlPvm", "checked_malloc", "imalloc_no_sample", "large_malloc",
        "malloc_default", "free_default", "ifree", "isfree", "huge_malloc", "extent_record", "malloc_slow_init",
    ]
    private static let mallocPrefixes = [
        "__libc_malloc", "__libc_free", "__libc_calloc", "__libc_realloc", "je_", "_rjem_", "arena_", "tcache_", "sz_",
        "emap_", "edata_", "pac_", "hpa_", "ecache_", "extent_", "base_alloc", "psset_", "eset_", "sec_", "pa_alloc",
        "rtree_", "prof_",
    ]
    private static let futexes: Set<String> = [
        "syscall", "sched_yield", "__sched_yield", "clock_nanosleep", "__clock_nanosleep", "clone", "clone3", "__clone",
        "__clone3", "start_thread", "nanosleep",
    ]
    private static let futexPrefixes = [
        "__futex", "futex_", "pthread_", "__pthread", "___pthread", "__GI___pthread", "__lll_", "__GI___lll_", "sem_",
        "__new_sem", "__GI___futex", "__nptl_",
    ]

    private static let workloadShims: Set<String> = [
        "clinux_burn", "clinux_thread_number", "clinux_set_thread_number", "clinux_heap_in_use",
    ]

    private func byName(_ symbol: String) -> FrameClass? {
        if symbol.hasPrefix("swift_") || symbol.hasPrefix("_swift_") {
            // Names such as `swift_deallocPartialClassInstance` share a prefix in the table.
            if Self.references.contains(where: { symbol.hasPrefix($0) }) { return .references }
            return Self.allocations.contains(where: { symbol.hasPrefix($0) }) ? .allocation : .swiftRuntime
        }
        if symbol.hasPrefix("swift::RefCounts") || symbol.hasPrefix("_ZN5swift9RefCounts") { return .references }
        if symbol.hasPrefix("__swift_") || symbol.hasPrefix("swift::") || symbol.hasPrefix("_ZN5swift")
            || symbol.hasPrefix("_ZNK5swift")
        {
            return .swiftRuntime
        }
        // The program's entry in Swift.
        if symbol == "main" || symbol.hasSuffix("_main"), !symbol.hasPrefix("_") { return .workload }
        if symbol == "_start" { return .libc }
        // C functions: the suite's, including the work of bodies, and the engine's.
        if symbol.hasPrefix("clinux_futex") { return .futex }
        if symbol.hasPrefix("clinux_") { return isEngine && !Self.workloadShims.contains(symbol) ? queue : .workload }
        let plain = symbol.hasPrefix("__GI_") ? String(symbol.dropFirst(5)) : symbol
        if Self.mallocs.contains(plain) || Self.mallocPrefixes.contains(where: { plain.hasPrefix($0) }) {
            return .allocation
        }
        let isFutex =
            Self.futexes.contains(plain)
            || Self.futexPrefixes.contains { symbol.hasPrefix($0) || plain.hasPrefix($0) }
        return isFutex ? .futex : nil
    }

    // MARK: By file

    private func byFile(_ file: String) -> FrameClass? {
        if library.has(file) { return queue }
        return Self.files.first { file.hasPrefix($0.0) }?.1
    }

    /// Prefixes of files' names; the first match counts.
    private static let files: [(String, FrameClass)] =
        QueueLibrary.builtIn.values.flatMap(\.files).map { ($0, .library) } + [
            ("libjemalloc", .allocation), ("libswift", .swiftRuntime), ("libpthread", .futex), ("libc.", .libc),
            ("libc-", .libc), ("ld-linux", .libc), ("libm.", .libc), ("libm-", .libc), ("libgcc_s", .libc),
            ("libstdc++", .libc), ("[vdso]", .libc), ("[vsyscall]", .libc),
        ]

    // MARK: Swift's modules

    /// The Swift module that declares a function. For a specialization of another library's generic code, the first of
    /// our modules in its name. Nil if it is not a Swift function.
    func swiftModule(of frame: StackFrame) -> String? {
        let symbol = Array(frame.symbol.utf8)
        guard symbol.starts(with: "$s".utf8) || symbol.starts(with: "$S".utf8) || symbol.starts(with: "_$s".utf8) else {
            return Self.moduleOfDemangled(frame.name)
        }
        let start = symbol[0] == UInt8(ascii: "_") ? 3 : 2
        if let module = Self.identifier(symbol, at: start) { return module }
        // The standard library and its types are mangled as letters. Our modules in the rest of the name are why the
        // code is specialized.
        let text = frame.symbol
        if let ours = ownModules.first(where: { text.contains("\($0.utf8.count)\($0)") }) { return ours }
        if let ours = Self.workloadModules.first(where: { text.contains($0) }) { return ours }
        return start < symbol.count && (symbol[start] | 0x20) == UInt8(ascii: "s") ? Self.standardLibrary : nil
    }

    private static let standardLibrary = "Swift"

    /// An identifier in Swift's mangling: its length in decimal digits, and then the identifier.
    private static func identifier(_ symbol: [UInt8], at start: Int) -> String? {
        var (place, length) = (start, 0)
        while place < symbol.count, (48...57).contains(symbol[place]) {
            length = length * 10 + Int(symbol[place] - 48)
            if length > symbol.count { return nil }
            place += 1
        }
        guard length > 0, place + length <= symbol.count else { return nil }
        return String(decoding: symbol[place..<place + length], as: UTF8.self)
    }

    /// The text before the first period, after the demangler's words for closures, thunks and the like.
    private static func moduleOfDemangled(_ name: String) -> String? {
        var rest = name[...]
        for separator in [" of ", " in ", " for "] {
            // In `closure #1 () -> () in Module.function(…)`, the entity comes last, but its parameters may contain the
            // word, too.
            let words = [
                "closure ", "implicit closure ", "partial apply ", "generic specialization ", "specialized ",
                "merged ", "outlined ", "reabstraction thunk ", "protocol witness ", "dispatch thunk ",
                "lazy protocol witness ", "type metadata ", "function signature specialization ",
            ]
            while words.contains(where: { rest.hasPrefix($0) }), let range = rest.firstRange(of: separator) {
                rest = rest[range.upperBound...]
            }
        }
        for word in ["static ", "merged ", "@objc ", "specialized ", "dispatch thunk of "] where rest.hasPrefix(word) {
            rest = rest.dropFirst(word.count)
        }
        guard let period = rest.firstIndex(of: "."), period != rest.startIndex else { return nil }
        let module = rest[..<period]
        return module.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? String(module) : nil
    }
}

// MARK: - The table

/// The weight of each class of functions. The parts add up to the total.
public struct ClassTable: Sendable {
    /// All classes in order, including those without weight.
    public let rows: [(frameClass: FrameClass, weight: Int64)]
    /// The modules in `FrameClass.library`, the heaviest first.
    public let modules: [(name: String, weight: Int64)]
    /// The sum of all rows.
    public let total: Int64
    /// The weight of stacks whose outermost function is not where threads begin. There the chain of callers is broken,
    /// so the callers are unknown.
    public let unknownCallers: Int64

    /// Outermost functions: entry points of the kernel, libc and the dynamic linker.
    public static let roots: Set<String> = [
        "start_thread", "clone", "clone3", "__clone", "__clone3", "_start", "__libc_start_main",
        "__libc_start_call_main", "__libc_start_main_impl", "__libc_start_main@@GLIBC_2.34", "main", "_dl_start",
        "_dl_start_user", "ret_from_fork", "ret_from_fork_asm", "entry_SYSCALL_64_after_hwframe",
    ]

    /// The share of the weight with unknown callers.
    public var unknownCallersShare: Double { total > 0 ? Double(unknownCallers) / Double(total) : 0 }

    /// A sample belongs to the class of its innermost function, and to `unknown` if it has no stack.
    public init(_ profile: StackProfile, on backend: BackendID) {
        let classifier = FrameClassifier(backend)
        let classes = profile.frames.map { classifier.classify($0) }
        let weights = profile.selfWeights()
        var sums: [FrameClass: Int64] = [:]
        var libraries: [String: Int64] = [:]
        let isWhole = profile.isWhole(classes)
        var broken: Int64 = 0
        for (index, node) in profile.nodes.enumerated() where weights[index] > 0 {
            let frameClass = index == 0 ? .unknown : classes[Int(node.frame)]
            sums[frameClass, default: 0] += weights[index]
            if frameClass == .library, let module = classifier.module(of: profile.frames[Int(node.frame)]) {
                libraries[module, default: 0] += weights[index]
            }
            if !isWhole[index] { broken += weights[index] }
        }
        rows = classifier.classes.map { ($0, sums[$0] ?? 0) }
        modules = libraries.map { (name: $0.key, weight: $0.value) }
            .sorted { ($1.weight, $0.name) < ($0.weight, $1.name) }
        total = profile.total
        unknownCallers = broken
    }
}

extension StackProfile {
    /// For each node, whether its stack reaches the beginning of a thread: a known entry function or, if the C
    /// library's functions have no names, one of those that called code in another file.
    fileprivate func isWhole(_ classes: [FrameClass]) -> [Bool] {
        var isWhole = [Bool](repeating: false, count: nodes.count)
        /// Whether there are only unnamed functions of the C library so far.
        var isOpen = [Bool](repeating: false, count: nodes.count)
        isOpen[0] = true
        for (index, node) in nodes.enumerated().dropFirst() {
            let (parent, frame) = (Int(node.parent), frames[Int(node.frame)])
            let frameClass = classes[Int(node.frame)]
            let isNamelessLibc = frame.isUnknown && [.libc, .futex].contains(frameClass)
            isOpen[index] = isOpen[parent] && isNamelessLibc
            isWhole[index] =
                isWhole[parent] || (parent == 0 && ClassTable.roots.contains(frame.symbol))
                || (parent != 0 && isOpen[parent] && !isNamelessLibc
                    && frame.object != frames[Int(nodes[parent].frame)].object
                    && frameClass != .kernel && frame.object != "[vdso]")
        }
        return isWhole
    }

    /// The profile without unnamed frames outside a thread's first function, because perf reads past the end of the
    /// stack.
    public func startingAtRoots() -> StackProfile {
        var result = StackProfile(unit: unit)
        var cut: [UInt32: UInt32] = [:]
        for sample in samples {
            let known = cut[sample.stack]
            let node = known ?? result.node(withoutBeyond(stack(sample.stack).map { frames[Int($0)] }))
            if known == nil { cut[sample.stack] = node }
            result.add(node: node, weight: sample.weight, thread: threads[Int(sample.thread)], time: sample.time)
        }
        return result
    }

    private func withoutBeyond(_ stack: [StackFrame]) -> [StackFrame] {
        guard let first = stack.firstIndex(where: { !$0.isUnknown }), first > 0,
            ClassTable.roots.contains(stack[first].symbol)
        else {
            // Both the extra frames and the thread's first function after them have no names.
            let beyond = stack.prefix { $0.isUnknown && $0.object.isEmpty }
            let isCLibrary = beyond.count < stack.count && stack[beyond.count].object.contains("/libc.")
            return isCLibrary ? Array(stack[beyond.count...]) : stack
        }
        return Array(stack[first...])
    }
}
