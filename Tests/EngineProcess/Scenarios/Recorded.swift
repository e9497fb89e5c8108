import Glibc
import OperationEngine
import OperationEngineRecorder

/// A program that is recorded if its environment says so. `recorded` ends after 100 operations; `recorded forever` prints
/// a line when these are recorded, and works until it is killed; `recorded fork` forks a child that works too; with
/// `recorded full`, the system refuses to write more than 1 MB.
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
    default: break
    }
}
