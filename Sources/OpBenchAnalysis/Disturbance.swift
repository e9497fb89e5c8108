/// What to know of a run before its first figure, where something else used the machine nearly all the time.
public enum Disturbance {
    /// From this part of the samples on, a mark beside each row tells less than one sentence above all.
    static let leastPart = 0.75

    /// One sentence; nil where enough samples were undisturbed.
    ///
    /// - Parameters:
    ///   - noisy: how many samples something else disturbed.
    ///   - samples: how many there are.
    public static func sentence(noisy: Int, of samples: Int) -> String? {
        guard samples > 0, Double(noisy) >= Self.leastPart * Double(samples) else { return nil }
        return """
            \(noisy >= samples ? "All" : "Nearly all") samples are noisy: something else used the machine. Times are \
            longer than the backends need, and small differences drown; CPU/op and allocs/op suffer least.
            """
    }
}
