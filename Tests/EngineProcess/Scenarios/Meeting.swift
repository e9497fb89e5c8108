import CLinux
import Glibc
import OperationEngine

/// Operations that wait for each other all meet, as their limit allows, whatever the process has made of its descriptors
/// and of /proc (contract N13).
///
/// Arguments: how many; then one of the `surroundings`.
@Sendable func meeting(_ arguments: [String]) {
    guard arguments.count == 2, let count = Int(arguments[0]), let prepare = surroundings[arguments[1]] else {
        fail("how many, and one of \(surroundings.keys.sorted())?")
    }
    let reports = Count()
    Misuse.handler = {
        say("meeting: \($0)")
        reports.add()
    }
    let isSeen = prepare()
    let milliseconds = (0..<3).map { _ in meet(count) }
    say("meeting: \(milliseconds) ms")
    // It is not said before it matters.
    expect(reports.value == (isSeen ? 0 : 1), "\(reports.value) reports")
}

/// Each makes the surroundings; false if the engine cannot see there what its threads do.
private let surroundings: [String: @Sendable () -> Bool] = [
    "usual": { true },
    // Each number that an open file may have is taken before the first operation.
    "no-descriptors": {
        exhaustDescriptors()
        return true
    },
    // Nobody may open a file any more.
    "no-files-allowed": {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return false
    },
    // What a server does that becomes a daemon, after the pool has started and looked at its threads; and then it opens
    // files, which get the numbers of whatever was open before.
    "closed-and-reused": {
        _ = meet(4)
        expect(closeAll(from: 3) == 0, "cannot close: \(String(cString: strerror(errno)))")
        let files = (0..<100).map { _ in open("/proc/self/stat", O_RDONLY) }
        expect(files.allSatisfy { $0 >= 3 }, "cannot open")
        return true
    },
    "no-proc": {
        hideProc()
        return false
    },
    // As where a server has itself confined to a folder after the pool has started and looked at its threads.
    "proc-lost": {
        _ = meet(4)
        hideProc()
        return true
    },
]

/// Has this process find an empty folder in place of /proc. It ends as skipped where that is not permitted.
private func hideProc() {
    let unshare: @convention(c) (Int32) -> Int32 = cFunction("unshare")
    let mount: @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?, UInt, Int) -> Int32 =
        cFunction("mount")
    let (newMounts, recursive, isPrivate) = (Int32(0x20000), UInt(0x4000), UInt(0x40000))
    guard unshare(newMounts) == 0, mount("none", "/", nil, recursive | isPrivate, 0) == 0,
        mount("none", "/proc", "tmpfs", 0, 0) == 0
    else { skip("/proc cannot be hidden: \(String(cString: strerror(errno)))") }
    expect(access("/proc/self", F_OK) != 0, "/proc is still there")
}

private func exhaustDescriptors() {
    while open("/dev/null", O_RDONLY) >= 0 {}
    expect(errno == EMFILE, "open: \(String(cString: strerror(errno)))")
}

/// How long it takes until all operations have met, in milliseconds.
private func meet(_ count: Int) -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let begin = time
    let arrived = Count()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = count
    for _ in 0..<count {
        queue.addOperation {
            arrived.add()
            arrived.wait(for: count)
        }
    }
    queue.waitUntilAllOperationsAreFinished()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return (time.tv_sec - begin.tv_sec) * 1000 + (time.tv_nsec - begin.tv_nsec) / 1_000_000
}

private func closeAll(from first: UInt32) -> Int32 {
    let closeRange: @convention(c) (UInt32, UInt32, Int32) -> Int32 = cFunction("close_range")
    return closeRange(first, .max, 0)
}
