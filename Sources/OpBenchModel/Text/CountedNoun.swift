/// A count with its noun: `1 sample`, `2 samples`.
///
/// - Parameter plural: nil for the noun with an s.
package func counted(_ count: some BinaryInteger, _ noun: String, plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
