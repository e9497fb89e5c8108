// Dispatch used by hand, as fast as we can write it, for shapes that opbench has adapters for. Proof 10 compares the
// two.
//
//     adapters SHAPE FORM
//
// SHAPE is tiny, refill, chain or layered; FORM is closure or function. Prints the nanoseconds per operation, for
// creating, submitting and draining together, over rounds of 300 ms in total after a warm-up. As in opbench, a body leaves
// a mark: one more than those of its predecessors.
import CDispatch
import Dispatch
import Glibc
import Synchronization

let window = 256
let chainCount = 8
let width = 64
let layers = 100
let degree = 3

// Optional, because a global that is initialized by a call is checked at each use.

nonisolated(unsafe) var operationCount = 0
nonisolated(unsafe) var marks: UnsafeMutablePointer<UInt32>!
let unended = Atomic<Int>(0)
let unfinished = Atomic<Int>(0)
let done = DispatchSemaphore(value: 0)
nonisolated(unsafe) var batchEnd = 0

// MARK: A graph in layers, each operation after `degree` operations of the previous layer, as two lists of edges

nonisolated(unsafe) var successorEnds: UnsafeMutablePointer<Int>!
nonisolated(unsafe) var successors: UnsafeMutablePointer<Int32>!
nonisolated(unsafe) var predecessors: UnsafeMutablePointer<Int32>!
nonisolated(unsafe) var sinkCount = 0
nonisolated(unsafe) var waiting: UnsafeMutablePointer<Atomic<Int32>>!

func makeGraph() {
    var state: UInt64 = 7
    func draw(below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
    predecessors = .allocate(capacity: operationCount * degree)
    var lists = [[Int32]](repeating: [], count: operationCount)
    for operation in width..<operationCount {
        var chosen: Set<Int> = []
        while chosen.count < degree { chosen.insert((operation / width - 1) * width + draw(below: width)) }
        for (index, predecessor) in chosen.sorted().enumerated() {
            predecessors[operation * degree + index] = Int32(predecessor)
            lists[predecessor].append(Int32(operation))
        }
    }
    successorEnds = .allocate(capacity: operationCount)
    successors = .allocate(capacity: operationCount * degree)
    var count = 0
    for operation in 0..<operationCount {
        for successor in lists[operation] {
            successors[count] = successor
            count += 1
        }
        successorEnds[operation] = count
        if lists[operation].isEmpty { sinkCount += 1 }
    }
}

@inline(__always) func successorRange(_ operation: Int) -> Range<Int> {
    (operation == 0 ? 0 : successorEnds[operation - 1])..<successorEnds[operation]
}

// MARK: Bodies

@inline(__always) func mark(_ operation: Int) { marks[operation] &+= 1 }

@inline(__always) func markLink(_ operation: Int) {
    marks[operation] &+= (operation >= chainCount ? marks[operation - chainCount] : 0) &+ 1
}

@inline(__always) func markNode(_ operation: Int) {
    var highest: UInt32 = 0
    if operation >= width {
        for index in operation * degree..<(operation + 1) * degree {
            highest = max(highest, marks[Int(predecessors[index])])
        }
    }
    marks[operation] &+= highest &+ 1
}

@inline(__always) func end() {
    if unended.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
}

// MARK: Closures

enum Closures {
    nonisolated(unsafe) static var queues: [DispatchQueue] = []

    static func tiny() {
        let queue = DispatchQueue.global()
        unended.store(operationCount, ordering: .relaxed)
        for operation in 0..<operationCount {
            queue.async {
                mark(operation)
                end()
            }
        }
        done.wait()
    }

    static func refill() {
        batchEnd = 0
        submitBatch()
        done.wait()
    }

    static func submitBatch() {
        let queue = DispatchQueue.global()
        let batch = batchEnd..<min(batchEnd + window, operationCount)
        batchEnd = batch.upperBound
        unfinished.store(batch.count, ordering: .relaxed)
        for operation in batch {
            queue.async {
                mark(operation)
                guard unfinished.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
                if batchEnd == operationCount { done.signal() } else { Closures.submitBatch() }
            }
        }
    }

    static func chain() {
        queues = (0..<chainCount).map { _ in DispatchQueue(label: "chain") }
        unended.store(chainCount, ordering: .relaxed)
        for head in 0..<chainCount { submitLink(head) }
        done.wait()
        queues = []
    }

    static func submitLink(_ operation: Int) {
        queues[operation % chainCount].async {
            markLink(operation)
            let next = operation + chainCount
            if next < operationCount { Closures.submitLink(next) } else { end() }
        }
    }

    static func layered() {
        unended.store(sinkCount, ordering: .relaxed)
        for source in 0..<width { submitNode(source) }
        done.wait()
    }

    static func submitNode(_ operation: Int) {
        DispatchQueue.global().async {
            markNode(operation)
            if successorRange(operation).isEmpty { return end() }
            for index in successorRange(operation) {
                let successor = Int(successors[index])
                if waiting[successor].subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { Closures.submitNode(successor) }
            }
        }
    }
}

// MARK: Functions

/// The number of an operation as a context, which must not be a null pointer.
@inline(__always) func context(_ operation: Int) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(bitPattern: operation + 1)!
}

@inline(__always) func operation(_ context: UnsafeMutableRawPointer?) -> Int { Int(bitPattern: context) - 1 }

enum Functions {
    nonisolated(unsafe) static var queues: [OpaquePointer] = []
    nonisolated(unsafe) static var global: OpaquePointer!

    static func tiny() {
        let queue: OpaquePointer = global
        unended.store(operationCount, ordering: .relaxed)
        for number in 0..<operationCount {
            dispatch_async_f(queue, context(number)) {
                mark(operation($0))
                end()
            }
        }
        done.wait()
    }

    static func refill() {
        batchEnd = 0
        submitBatch()
        done.wait()
    }

    static func submitBatch() {
        let batch = batchEnd..<min(batchEnd + window, operationCount)
        batchEnd = batch.upperBound
        unfinished.store(batch.count, ordering: .relaxed)
        for number in batch {
            dispatch_async_f(global, context(number)) {
                mark(operation($0))
                guard unfinished.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
                if batchEnd == operationCount { done.signal() } else { Functions.submitBatch() }
            }
        }
    }

    static func chain() {
        // Created once: Swift cannot release them, and creating eight takes no time compared with 16,000 operations.
        if queues.isEmpty { queues = (0..<chainCount).map { _ in dispatch_queue_create("chain", nil) } }
        unended.store(chainCount, ordering: .relaxed)
        for head in 0..<chainCount { submitLink(head) }
        done.wait()
    }

    static func submitLink(_ number: Int) {
        dispatch_async_f(queues[number % chainCount], context(number)) {
            let number = operation($0)
            markLink(number)
            let next = number + chainCount
            if next < operationCount { Functions.submitLink(next) } else { end() }
        }
    }

    static func layered() {
        unended.store(sinkCount, ordering: .relaxed)
        for source in 0..<width { submitNode(source) }
        done.wait()
    }

    static func submitNode(_ number: Int) {
        dispatch_async_f(global, context(number)) {
            let number = operation($0)
            markNode(number)
            if successorRange(number).isEmpty { return end() }
            for index in successorRange(number) {
                let successor = Int(successors[index])
                if waiting[successor].subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { Functions.submitNode(successor) }
            }
        }
    }
}

// MARK: Rounds

func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

let shapes: [String: (operations: Int, closure: @Sendable () -> Void, function: @Sendable () -> Void)] = [
    "tiny": (20000, Closures.tiny, Functions.tiny),
    "refill": (20000, Closures.refill, Functions.refill),
    "chain": (2000 * chainCount, Closures.chain, Functions.chain),
    "layered": (width * layers, Closures.layered, Functions.layered),
]

@main
enum Program {
    static func main() {
        let words = CommandLine.arguments
        guard words.count == 3, let shape = shapes[words[1]], ["closure", "function"].contains(words[2]) else {
            fatalError("usage: adapters tiny|refill|chain|layered closure|function")
        }
        operationCount = shape.operations
        Functions.global = dispatch_get_global_queue(0, 0)
        marks = .allocate(capacity: operationCount)
        if words[1] == "layered" { makeGraph() }
        let round = words[2] == "closure" ? shape.closure : shape.function
        _ = rounds(round, isLayered: words[1] == "layered", nanoseconds: 100_000_000)
        print(rounds(round, isLayered: words[1] == "layered", nanoseconds: 300_000_000))
    }

    /// Nanoseconds per operation.
    static func rounds(_ round: () -> Void, isLayered: Bool, nanoseconds: Int64) -> Double {
        var (total, operations): (Int64, Int) = (0, 0)
        while total < nanoseconds {
            marks.initialize(repeating: 0, count: operationCount)
            let begun = now()
            if isLayered {
                waiting = .allocate(capacity: operationCount)
                for number in 0..<operationCount { (waiting + number).initialize(to: Atomic(Int32(degree))) }
            }
            round()
            if isLayered { waiting.deallocate() }
            total += now() - begun
            operations += operationCount
            guard (0..<operationCount).allSatisfy({ marks[$0] > 0 }) else { fatalError("an operation did not run") }
        }
        return Double(total) / Double(operations)
    }
}
