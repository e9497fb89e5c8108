/// What becomes of a sample whose backend has run an operation too often, or lost one.
///
/// Such a backend may go on with the round's operations at any time, so nothing of the round may be freed, and no further
/// round started: the sample ends here, with words. Where nobody has said how, as in tests, the findings are kept and the
/// caller goes on.
package enum BrokenRound {
    private nonisolated(unsafe) static var ending: (@Sendable (String) -> Never)?
    private nonisolated(unsafe) static var kept: [(finding: String, object: AnyObject?)] = []
    private static let lock = PlainLock()

    /// What ends the process with a finding. To be called once, before the sample begins.
    package static func setEnding(_ ending: @escaping @Sendable (String) -> Never) {
        lock.whileLocked { self.ending = ending }
    }

    /// Ends the sample. Called by any thread.
    ///
    /// - Parameter object: that must not be freed any more.
    package static func report(_ finding: String, keeping object: AnyObject? = nil) {
        let ending = lock.whileLocked {
            kept.append((finding, object))
            return self.ending
        }
        ending?(finding)
    }

    /// What was found in this process.
    package static var findings: [String] { lock.whileLocked { kept.map(\.finding) } }
}

/// The last few of what is over, so that a late use of it touches no freed memory.
package final class Leftovers<Element>: @unchecked Sendable {
    private let lock = PlainLock()
    private var elements: [Element?]
    private var place = 0

    package init(count: Int) { elements = Array(repeating: nil, count: count) }

    /// - Returns: what gives way to it.
    package func keep(_ element: Element) -> Element? {
        lock.whileLocked {
            defer { place = (place + 1) % elements.count }
            defer { elements[place] = element }
            return elements[place]
        }
    }
}
