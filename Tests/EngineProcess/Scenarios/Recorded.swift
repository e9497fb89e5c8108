import Glibc
import OperationEngine
import OperationEngineRecorder

/// A program that is recorded if its environment says so. `recorded` ends after 100 operations; `recorded forever` prints
/// a line when these are recorded, and works until it is killed; `recorded fork` forks a child that works too; with
/// `recorded full`, the system refuses to write more than 1 MB. `recorded spawn` runs `recorded` meanwhile, and has 100
/// more operations; `recorded exec` becomes `recorded`, `recorded exec stopped` after the end of its recording.
/// `recorded orphan` is killed while a child that it forked lives on, until its standard input ends. `recorded
/// everything` does everything that a recording shows; `recorded computing` prints the CPU time of each operation of its
/// queue `computations`, as its body reads it.
@Sendable func recorded(_ arguments: [String]) {
    let recorder = TraceRecorder.fromEnvironment()
    let queue = OperationQueue()
    queue.name = "work"
    queue.maxConcurrentOperationCount = 2
    func work(_ count: Int) {
        for _ in 0..<count { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
    }
    /// Works until so much is in the file.
    func fill(_ size: Int) {
        var file = stat()
        repeat {
            work(2000)
            expect(stat(recorder?.path ?? "", &file) == 0, "stat")
        } while file.st_size < size
    }
    work(100)
    switch arguments.first {
    case "forever":
        // More than half of a ring: the writer comes.
        while true {
            work(2000)
            print("still here")
            fflush(nil)
        }
    case "full":
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 1_000_000)
        expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "setrlimit")
        fill(1_000_000)
    case "fork":
        let end = inForkedChild {
            BlockOperation {}.start()
            recorder?.stop()
            return 0
        }
        expect(end == .exit(0), "the child's end: \(end)")
    case "spawn":
        let child = forkProcess()
        if child == 0 { becomeRecorded() }
        var status = Int32(0)
        expect(waitpid(child, &status, 0) == child && status == 0, "the child's end: \(status)")
        work(100)
    case "exec":
        fill(100_000)
        if arguments.last == "stopped" { recorder?.stop() }
        becomeRecorded()
    case "orphan":
        fill(100_000)
        if forkProcess() == 0 {
            // By pipes and sockets, the one that started the parent sees its end. The recording is neither.
            for descriptor in STDIN_FILENO + 1..<1024 {
                var file = stat()
                if fstat(descriptor, &file) == 0, file.st_mode & S_IFMT != S_IFREG { close(descriptor) }
            }
            var byte: UInt8 = 0
            _exit(Int32(read(STDIN_FILENO, &byte, 1)))
        }
        kill(getpid(), SIGKILL)
    case "everything": doEverything()
    case "computing": compute()
    default: break
    }
}

/// Executes `recorded` in this process.
private func becomeRecorded() -> Never {
    let words: [UnsafeMutablePointer<CChar>?] = [strdup("EngineProcess"), strdup("recorded"), nil]
    execv("/proc/self/exe", words)
    fail("exec: \(String(cString: strerror(errno)))")
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
