import Glibc

/// Times in UTC, for rows and names.
public enum Timestamp {
    /// ISO 8601, with milliseconds.
    static func now() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let milliseconds = String(1000 + time.tv_nsec / 1_000_000).dropFirst()
        return "\(text("%Y-%m-%dT%H:%M:%S", of: time.tv_sec)).\(milliseconds)Z"
    }

    /// A time in a form of strftime(3).
    public static func text(_ form: String, of seconds: time_t = time(nil)) -> String {
        var (seconds, parts) = (seconds, tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let length = strftime(&text, text.count, form, &parts)
        return String(decoding: text[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
