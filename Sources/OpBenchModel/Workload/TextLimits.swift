/// The most characters of what a workload file says in words.
enum TextLimits {
    /// Of a workload's name.
    static let name = 64
    /// Of a summary or a reason.
    static let sentence = 200
}
