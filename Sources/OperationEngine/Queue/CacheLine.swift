/// Keeps fields apart that different processors write.
struct CacheLine {
    private let bytes: [64 of UInt8] = .init(repeating: 0)
}
