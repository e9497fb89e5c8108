import CLinux
import CLinuxMeasure
import Dispatch
import Glibc
import Synchronization

/// Gives every thread of the process a timer, from a separate thread that has no timer and takes no signals.
final class ThreadTimers: @unchecked Sendable {
    private let profile: UnsafeMutablePointer<clinux_profile>
    private let options: SignalSampler.Options
    private let stopped = DispatchSemaphore(value: 0)
    private let started = DispatchSemaphore(value: 0)
    private var thread: pthread_t?

    // Only the watch's thread uses these until it ends; `start` reads them once `started` is signalled.

    /// Timers by thread; nil if the kernel refused one.
    private var timers: [pid_t: Int32?] = [:]
    /// The number of threads that are not sampled.
    private(set) var refusals = 0
    private var refusal: Int32 = 0

    init(_ profile: UnsafeMutablePointer<clinux_profile>, _ options: SignalSampler.Options) {
        self.profile = profile
        self.options = options
    }

    /// Returns once all existing threads have a timer.
    ///
    /// - Throws: `SamplerError` if none could get one.
    func start() throws(SamplerError) {
        var thread = pthread_t()
        let failure = clinux_profile_start_thread(
            { context, _ in
                Unmanaged<ThreadTimers>.fromOpaque(context!).takeUnretainedValue().run()
            }, Unmanaged.passUnretained(self).toOpaque(), &thread)
        guard failure == 0 else { throw Self.refused("a thread", failure) }
        self.thread = thread
        started.wait()
        if !timers.values.contains(where: { $0 != nil }) { throw Self.refused("timers of CPU time", refusal) }
    }

    private static func refused(_ what: String, _ failure: Int32) -> SamplerError {
        SamplerError(
            message: "the system refuses \(what): \(String(cString: strerror(failure)))",
            remedy: failure == EAGAIN ? "raise the limit of pending signals (ulimit -i), or use perf" : "use perf")
    }

    /// Deletes all timers before it returns. Does nothing before `start`.
    func stop() {
        guard let thread else { return }
        stopped.signal()
        pthread_join(thread, nil)
        self.thread = nil
    }

    private func run() {
        clinux_set_own_name("opbench sampler")
        let own = clinux_gettid()
        var threads = [pid_t](repeating: 0, count: 1024)
        repeat {
            look(&threads, except: own)
            started.signal()
        } while stopped.wait(timeout: .now() + .milliseconds(options.searchInterval)) == .timedOut
        for case let timer? in timers.values { clinux_profile_delete_timer(timer) }
    }

    private func look(_ threads: inout [pid_t], except own: pid_t) {
        var count = Int(clinux_list_threads(-1, &threads, Int32(threads.count)))
        while count == threads.count {
            threads += threads
            count = Int(clinux_list_threads(-1, &threads, Int32(threads.count)))
        }
        guard count > 0 else { return }
        let present = Set(threads[..<count])
        // The kernel reuses thread ids only after a full cycle, so an ended thread's id does not reappear between two
        // looks.
        for (thread, timer) in timers where !present.contains(thread) {
            if let timer { clinux_profile_delete_timer(timer) }
            timers[thread] = nil
        }
        for thread in present where thread != own && timers.index(forKey: thread) == nil {
            // A random first expiry: otherwise threads that run for less than a period would never be sampled, and
            // threads that begin together would be sampled together.
            let timer = clinux_profile_start_timer(profile, thread, .random(in: 1...options.period))
            // The thread has ended in the meantime.
            if timer == -EINVAL || timer == -ESRCH { continue }
            if timer < 0 {
                refusal = -timer
                refusals += 1
            }
            timers.updateValue(timer < 0 ? nil : timer, forKey: thread)
        }
    }
}
