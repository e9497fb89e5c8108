import CLinuxMeasure
import Glibc

/// Waits for the events that can happen while a program runs.
struct ProcessWait {
    enum Event { case ended, cancelled, over }

    let process: pid_t
    /// The process's descriptor; −1 on systems without one.
    let ended: Int32
    /// −1 once it no longer matters.
    var cancelled: Int32

    /// The polling interval for a process without a descriptor, in seconds.
    private static let interval = 0.01
    /// poll(2) counts milliseconds in 32 bits.
    private static let mostSeconds = 1e6

    /// Reports the program's end first if several events have happened: it ended by itself, even if this process was
    /// stopped meanwhile and the program's time is over by now.
    func callAsFunction(atMost seconds: Double?) -> Event {
        var limit = seconds.map { TimeLimit(seconds: $0) }
        var files = [ended, cancelled].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let part = limit.map { $0.next ?? 0 } ?? Self.mostSeconds
            let isLast = limit != nil && part == 0
            let longest = ended >= 0 || isLast ? Self.mostSeconds : Self.interval
            let begun = ContinuousClock.now
            let count = poll(&files, 2, Int32((min(part, longest) * 1000).rounded(.up)))
            if count > 0, files[0].revents != 0 { return .ended }
            if ended < 0, clinux_has_ended(process) != 0 { return .ended }
            if count > 0 { return .cancelled }
            if isLast { return .over }
            limit?.take(begun.duration(to: .now) / .seconds(1))
        }
    }
}
