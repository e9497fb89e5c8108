/// Operations that occupy a thread and no processor.
package struct Blocking: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// Every operation sleeps.
        case sleep
        /// Of each two in succession the first waits until the second, which sleeps, has finished.
        case wait
    }

    package var kind: Kind
    package var nanoseconds: Int
}
