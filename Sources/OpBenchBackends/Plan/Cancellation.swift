/// Operations that are cancelled between submitting and draining.
package struct Cancellation: Sendable, Equatable {
    package enum Call: String, Sendable {
        /// One call for each chosen operation.
        case each
        /// One call for everything in the queue.
        case all
    }

    package var call: Call
    /// Whether nothing can have begun when the cancelling begins, so that the outcome is wholly determined.
    package var isBeforeRelease: Bool
    /// For each operation, whether it is to be cancelled.
    package var isChosen: [Bool]

    package var chosenCount: Int { isChosen.count { $0 } }
}
