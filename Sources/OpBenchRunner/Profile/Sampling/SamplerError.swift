/// Why a recorder cannot record, and what to do about it.
struct SamplerError: Error, Equatable, Sendable, CustomStringConvertible {
    var message: String
    var remedy: String

    var description: String { remedy.isEmpty ? message : "\(message); \(remedy)" }
}
