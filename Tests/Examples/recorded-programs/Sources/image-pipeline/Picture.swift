import Glibc

/// A grey picture. Its steps depend on each other, so one thread at a time uses it.
final class Picture: @unchecked Sendable {
    private let number: Int
    private let side: Int
    private var pixels: [UInt8] = []

    init(number: Int, side: Int) { (self.number, self.side) = (number, side) }

    /// Numbers that look random, the same in each run.
    struct Random {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    /// Rings and noise.
    func draw() {
        var random = Random(seed: UInt64(number))
        pixels = (0..<side * side).map { place in
            let (x, y) = (place % side - side / 2, place / side - side / 2)
            return UInt8(truncatingIfNeeded: (x * x + y * y) / side + random.next(below: 32))
        }
    }

    /// Replaces each pixel by the mean of those beside it, twice.
    func blur() {
        for _ in 0..<2 {
            let former = pixels
            for y in 1..<side - 1 {
                for x in 1..<side - 1 {
                    var sum = 0
                    for row in y - 1...y + 1 { for column in x - 1...x + 1 { sum += Int(former[row * side + column]) } }
                    pixels[y * side + x] = UInt8(sum / 9)
                }
            }
        }
    }

    /// Writes the picture to a file, and removes it.
    func save() {
        var path = Array("/tmp/picture-XXXXXX\0".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { fatalError("no file in /tmp") }
        let head = "P5 \(side) \(side) 255\n"
        _ = write(descriptor, head, head.utf8.count)
        _ = write(descriptor, pixels, pixels.count)
        close(descriptor)
        unlink(path)
    }
}
