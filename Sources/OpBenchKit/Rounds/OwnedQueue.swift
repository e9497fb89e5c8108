/// A queue that was made, until it is shut down: by its round, or when the last of several phases that share it lets go.
final class OwnedQueue: @unchecked Sendable {
    let queue: any MeasuredQueue
    /// What it was made with.
    let limit: Int?
    /// Touched by the thread that runs the rounds.
    private var isOver = false

    init(_ queue: any MeasuredQueue, limit: Int?) { (self.queue, self.limit) = (queue, limit) }

    deinit { shutDown() }

    func shutDown() {
        if !isOver { queue.shutDown() }
        isOver = true
    }
}
