/// The end of a sample whose backend ran an operation too often, or lost one, or whose bodies cannot do what they should.
///
/// Such a backend may run the round's operations at any time, so nothing of the round may be freed, and no further
/// round started: the sample ends here, with a message. Without an ending, as in tests, the findings are kept and the
/// caller continues.
package enum BrokenRound {
    private nonisolated(unsafe) static var ending: (@Sendable (String) -> Never)?
    private nonisolated(unsafe) static var kept: [(finding: String, object: AnyObject?)] = []
    private static let lock = PlainLock()

    /// Sets the function that ends the process with a finding. Called once, before the sample begins.
    package static func setEnding(_ ending: @escaping @Sendable (String) -> Never) {
        lock.whileLocked { self.ending = ending }
    }

    /// Ends the sample. Called by any thread.
    ///
    /// - Parameter object: an object that must not be freed any more.
    package static func report(_ finding: String, keeping object: AnyObject? = nil) {
        let ending = lock.whileLocked {
            kept.append((finding, object))
            return self.ending
        }
        ending?(finding)
    }

    /// The findings in this process.
    package static var findings: [String] { lock.whileLocked { kept.map(\.finding) } }
}

/// The last few finished elements, so that a late use touches no freed memory.
package final class Leftovers<Element>: @unchecked Sendable {
    private let lock = PlainLock()
    private var elements: [Element?]
    private var place = 0

    package init(count: Int) { elements = Array(repeating: nil, count: count) }

    /// - Returns: the element that it replaces.
    package func keep(_ element: Element) -> Element? {
        lock.whileLocked {
            defer { place = (place + 1) % elements.count }
            defer { elements[place] = element }
            return elements[place]
        }
    }
}
