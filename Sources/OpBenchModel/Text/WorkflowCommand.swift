/// A command that GitHub's runner finds in what a step prints, on a line of its own: `::error title=…::…`.
public struct WorkflowCommand: Sendable {
    public var name: String
    public var title: String
    public var message: String

    public init(_ name: String, title: String, message: String) {
        self.name = name
        self.title = title
        self.message = message
    }

    /// The line with its end. The runner gives back the title and the message as they are here.
    public var line: String { "::\(name) title=\(Self.property(title))::\(Self.data(message))\n" }

    static func data(_ text: String) -> String { escaped(text, "%\r\n") }

    /// In a property a colon and a comma have meanings too.
    static func property(_ text: String) -> String { escaped(text, "%\r\n:,") }

    private static func escaped(_ text: String, _ special: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if special.utf8.contains(byte) {
                bytes += "%".utf8
                bytes += (byte < 16 ? "0" : "").utf8
                bytes += String(byte, radix: 16, uppercase: true).utf8
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
