/// Keeps fields apart that different processors write, where their cache lines are of 64 bytes.
struct CacheLine {
    private let bytes: [64 of UInt8] = .init(repeating: 0)
}
