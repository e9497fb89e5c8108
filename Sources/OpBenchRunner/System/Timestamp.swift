import Glibc

/// Timestamps for rows and files.
enum Timestamp {
    /// ISO 8601, UTC, milliseconds.
    static func now() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var parts = tm()
        var instant = time.tv_sec
        gmtime_r(&instant, &parts)
        func digits(_ number: Int, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map { digits($0) }
        let clock = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)].map { digits($0) }
        return "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(digits(time.tv_nsec / 1_000_000, 3))Z"
    }
}
