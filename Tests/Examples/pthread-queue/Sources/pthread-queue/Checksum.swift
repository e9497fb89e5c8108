import OpBenchKit

/// An operation of the program's own, for `"body": "checksum"`: it mixes the item's number a thousand times.
let checksum = Body("checksum") { item in
    var sum = UInt64(item)
    for _ in 0..<1000 { sum = (sum ^ (sum >> 29)) &* 0xBF58_476D_1CE4_E5B9 }
    withExtendedLifetime(sum) {}
}
