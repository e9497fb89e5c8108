/// Writes protobuf messages into one buffer, in the wire format of https://protobuf.dev/programming-guides/encoding/: a
/// tag of field number and wire type, then a varint, eight bytes, or a length and that many bytes.
struct ProtobufMessage {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case length = 2
    }

    private mutating func tag(_ field: UInt64, _ type: WireType) { varint(field << 3 | type.rawValue) }

    private mutating func varint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A field of type uint32, uint64, bool or enum.
    mutating func number(_ field: UInt64, _ value: UInt64) {
        tag(field, .varint)
        varint(value)
    }

    /// A field of type int32 or int64; a negative number takes ten bytes.
    mutating func signed(_ field: UInt64, _ value: Int64) {
        tag(field, .varint)
        varint(UInt64(bitPattern: value))
    }

    mutating func fixed64(_ field: UInt64, _ value: UInt64) {
        tag(field, .fixed64)
        bytes.append(littleEndian: value)
    }

    mutating func text(_ field: UInt64, _ value: String) {
        tag(field, .length)
        varint(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    /// A nested message. Its length precedes it; the one byte that is reserved for it is enough for most messages.
    mutating func message(_ field: UInt64, _ body: (inout ProtobufMessage) -> Void) {
        tag(field, .length)
        let place = bytes.count
        bytes.append(0)
        body(&self)
        let length = bytes.count - place - 1
        if length < 0x80 {
            bytes[place] = UInt8(length)
            return
        }
        var prefix = ProtobufMessage()
        prefix.varint(UInt64(length))
        bytes.replaceSubrange(place...place, with: prefix.bytes)
    }
}
