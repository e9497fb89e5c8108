import CLinuxMeasure
import Glibc

/// How a child process ended.
enum ChildEnd: Equatable {
    case exit(Int32)
    case signal(Int32)
}

/// Swift hides fork(2), for the reason that these scenarios show.
let forkProcess: @convention(c) () -> pid_t = cFunction("fork")

/// Forks; the child runs `body` and ends with the status it returns, at once and without the handlers of `exit`.
/// It dies with this process. Returns how it ended.
func inForkedChild(_ body: () -> Int32) -> ChildEnd {
    // `_exit` leaves nothing to return to.
    inForkedChildReturning { _exit(body()) }!
}

/// As `inForkedChild`, but the child returns from here, with nil, after `body`.
func inForkedChildReturning(_ body: () -> Void) -> ChildEnd? {
    let parent = getpid()
    let child = forkProcess()
    expect(child >= 0, "fork: \(String(cString: strerror(errno)))")
    if child == 0 {
        guard clinux_die_with_parent(parent) == 0 else { _exit(3) }
        body()
        return nil
    }
    var status = Int32(0)
    while waitpid(child, &status, 0) == -1 && errno == EINTR {}
    // wait(2): the low seven bits are the signal's number, the next byte is the exit status.
    return status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
}
