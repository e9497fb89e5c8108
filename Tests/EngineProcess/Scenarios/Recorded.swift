import Glibc
import OperationEngine
import OperationEngineRecorder

/// A program that is recorded if its environment says so. `recorded` ends after 100 operations; `recorded forever` prints
/// a line when these are recorded, and works until it is killed; `recorded fork` forks a child that works too; with
/// `recorded full`, the system refuses to write more than 1 MB. `recorded everything` does everything that a recording
/// shows; `recorded computing` prints the CPU time of each operation of its queue `computations`, as its body reads it.
@Sendable func recorded(_ arguments: [String]) {
    let recorder = TraceRecorder.fromEnvironment()
    let queue = OperationQueue()
    queue.name = "work"
    queue.maxConcurrentOperationCount = 2
    for _ in 0..<100 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    switch arguments.first {
    case "forever":
        // More than half of a ring: the writer comes.
        while true {
            for _ in 0..<2000 { queue.addOperation {} }
            queue.waitUntilAllOperationsAreFinished()
            print("still here")
            fflush(nil)
        }
    case "full":
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 1_000_000)
        expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "setrlimit")
        var file = stat()
        repeat {
            for _ in 0..<2000 { queue.addOperation {} }
            queue.waitUntilAllOperationsAreFinished()
            expect(stat(recorder?.path ?? "", &file) == 0, "stat")
        } while file.st_size < 1_000_000
    case "fork":
        let end = inForkedChild {
            BlockOperation {}.start()
            recorder?.stop()
            return 0
        }
        expect(end == .exit(0), "the child's end: \(end)")
    case "everything": doEverything()
    case "computing": compute()
    default: break
    }
}

private final class Resize: Operation, @unchecked Sendable {
    override func main() {}
}

private func doEverything() {
    let images = OperationQueue()
    images.name = "images"
    images.maxConcurrentOperationCount = 3
    images.isSuspended = true
    let (first, second, cancelled) = (Resize(), Resize(), Resize())
    first.queuePriority = .veryHigh
    second.addDependency(first)
    images.addOperations([first, second, cancelled], waitUntilFinished: false)
    cancelled.cancel()
    for _ in 0..<100 { images.addOperation {} }
    images.addBarrierBlock {}
    images.isSuspended = false
    images.waitUntilAllOperationsAreFinished()
}

private func compute() {
    let queue = OperationQueue()
    queue.name = "computations"
    queue.maxConcurrentOperationCount = 1
    for _ in 0..<20 {
        queue.addOperation {
            let begun = ownNanoseconds()
            var used: Int64 = 0
            repeat { used = ownNanoseconds() - begun } while used < 200_000
            print(used)
        }
    }
    queue.waitUntilAllOperationsAreFinished()
}

/// The CPU time of the calling thread.
private func ownNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
