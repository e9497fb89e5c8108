/// The reason why a thread has no processor.
public enum OffCPUCause: String, CaseIterable, Sendable {
    /// Waits for another thread: a lock, a semaphore, a condition, a parked worker.
    case futex
    /// Waits for a time.
    case sleep
    /// Waits for a file descriptor, with poll(2) or a similar call.
    case poll
    /// Waits for data from a disk, a pipe or a socket.
    case io
    /// Waits for a page, or for the kernel's lock of the process's memory.
    case memory
    /// Waits for a processor, because another thread got it.
    case preempted
    /// Waits for a processor after it yielded.
    case yielded
    case other

    public var words: String {
        switch self {
        case .futex: "another thread (futex)"
        case .sleep: "a time (sleep)"
        case .poll: "a file descriptor (poll)"
        case .io: "input or output"
        case .memory: "memory (page fault, mmap)"
        case .preempted: "a processor (preempted)"
        case .yielded: "a processor (yielded)"
        case .other: "something else"
        }
    }

    /// Whether the thread needs only a processor to continue.
    public var isRunnable: Bool { self == .preempted || self == .yielded }

    /// Prefixes of functions' names, in the kernel and the C library.
    private static let table: [(OffCPUCause, [String])] = [
        (
            .futex,
            [
                "futex_", "do_futex", "__futex", "__x64_sys_futex", "__arm64_sys_futex", "__lll_lock_wait",
                "__GI___lll_lock_wait", "pthread_cond_", "pthread_mutex_", "pthread_join", "___pthread_", "__pthread_",
                "__GI___pthread_", "sem_wait", "sem_timedwait", "sem_clockwait", "__new_sem_wait", "clinux_futex_wait",
            ]
        ),
        (
            .sleep,
            [
                "hrtimer_nanosleep", "do_nanosleep", "common_nsleep", "clock_nanosleep", "__clock_nanosleep",
                "nanosleep", "usleep",
            ]
        ),
        (
            .poll,
            [
                "ep_poll", "do_epoll_wait", "epoll_", "do_sys_poll", "do_poll", "poll_schedule_timeout", "do_select",
                "__poll", "poll", "ppoll", "select", "core_sys_select",
            ]
        ),
        (
            .io,
            [
                "io_schedule", "folio_wait", "wait_on_page", "blk_", "submit_bio", "pipe_read", "pipe_write",
                "anon_pipe_read", "anon_pipe_write", "eventfd_read", "sock_", "unix_stream", "tcp_", "vfs_read",
                "vfs_write", "ksys_read", "ksys_write", "vfs_fsync", "jbd2_", "ext4_", "xfs_", "btrfs_", "read",
                "write",
                "__read", "__write", "__libc_read", "__libc_write", "__GI___libc_read", "__GI___libc_write",
            ]
        ),
        (
            .memory,
            [
                "exc_page_fault", "asm_exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "rwsem_down_",
                "down_read", "down_write", "vm_mmap", "do_mmap", "__vm_munmap", "do_madvise", "do_mprotect", "mmap",
                "munmap", "madvise", "mprotect", "do_page_fault",
            ]
        ),
    ]

    /// - Parameters:
    ///   - state: the state in which it left the processor; nil if unknown.
    ///   - symbols: the functions on its stack, the innermost first. The first one in the table decides.
    init(state: SchedEvent.State?, symbols: some Sequence<String>) {
        if state == .runnable {
            let yields = symbols.contains { $0.hasSuffix("sched_yield") }
            self = yields ? .yielded : .preempted
            return
        }
        for symbol in symbols {
            if let row = Self.table.first(where: { row in row.1.contains { symbol.hasPrefix($0) } }) {
                self = row.0
                return
            }
        }
        self = state == .uninterruptible ? .io : .other
    }
}
