import TestSupport

/// A thread of no queue that runs blocks in the order given.
final class Finisher: Sendable {
    private struct State {
        var blocks: [@Sendable () -> Void] = []
        var isEnded = false
    }

    private let state = Guarded(State())
    private let thread: OwnThread

    init() {
        let state = state
        thread = OwnThread {
            while true {
                _ = state.wait(within: .seconds(3600)) { !$0.blocks.isEmpty || $0.isEnded }
                let blocks = state.withLock { state in
                    defer { state.blocks = [] }
                    return state.blocks
                }
                if blocks.isEmpty, state.read().isEnded { return }
                for block in blocks { block() }
            }
        }
    }

    func perform(_ block: @escaping @Sendable () -> Void) { state.withLock { $0.blocks.append(block) } }

    /// Runs what is left and ends the thread.
    func end() {
        state.withLock { $0.isEnded = true }
        thread.join()
    }
}
