import Foundation

/// Makes sure that tests end. One slow test does not show a hang: it may wait behind hundreds of others for one of the
/// few threads. If no test at all ends for long, some hang.
///
/// Safe to use from any thread.
enum TestWatch {
    private struct Running {
        var names: [Int: String] = [:]
        var begun = 0
        var patience = Patience()
    }

    private static let running = Guarded(Running())

    private static let thread: Void = onNewThread {
        while true {
            // A sleep that nothing ends early.
            _ = running.wait(within: .seconds(1)) { _ in false }
            look()
        }
    }

    /// Returns what `end` is to be given.
    static func begin(_ name: String) -> Int {
        thread
        return running.withLock { running in
            running.begun += 1
            running.names[running.begun] = name
            running.patience.renew()
            return running.begun
        }
    }

    static func end(_ test: Int) {
        running.withLock { running in
            running.names[test] = nil
            running.patience.renew()
        }
    }

    private static func look() {
        let hanging = running.withLock { running -> [String] in
            guard !running.names.isEmpty else {
                running.patience.renew()
                return []
            }
            return running.patience.isOver(after: HangLimit.test) ? running.names.values.sorted() : []
        }
        if hanging.isEmpty { return }
        let names = hanging.map { "“\($0)”" }.joined(separator: ", ")
        FileHandle.standardError.write(Data("no test ends any more; giving up on \(names)\n".utf8))
        abort()
    }
}
