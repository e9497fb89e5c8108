import ArgumentParser

/// How long profiled samples last, `--seconds`, and may take, `--timeout`.
enum SampleTime {
    static func check(seconds: Double, timeout: Double) throws {
        guard seconds > 0, seconds <= 3600 else {
            throw ValidationError("--seconds is \(seconds); allowed are more than 0 and at most 3600.")
        }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout is \(timeout); allowed are more than 0 and at most 86400 seconds.")
        }
        guard timeout > seconds else {
            throw ValidationError(
                "--timeout \(timeout) leaves a sample no time for --seconds \(seconds): give it some times as much.")
        }
    }
}
