import Glibc

#if compiler(>=6.3)
    /// Leaves the backtrace of a crash to this process: `scripts/test` asks for it by a variable, which the Swift runtime
    /// has read by now. Processes that tests start crash on purpose, and would take seconds each.
    @section(".init_array") @used
    private let leaveBacktraceToThisProcess: @convention(c) () -> Void = { unsetenv("SWIFT_BACKTRACE") }
#endif
