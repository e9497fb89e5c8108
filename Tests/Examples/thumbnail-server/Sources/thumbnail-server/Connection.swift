import Glibc

/// A TCP socket on 127.0.0.1. One thread reads; others may send.
final class Connection: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    init?(listeningOn port: UInt16) {
        guard let socket = Self.socket(port, bind) else { return nil }
        descriptor = socket
        guard listen(descriptor, 64) == 0 else { return nil }
    }

    init?(to port: UInt16) {
        guard let socket = Self.socket(port, connect) else { return nil }
        descriptor = socket
    }

    /// The port of a listening socket.
    var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func socket(
        _ port: UInt16, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32? {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use(descriptor, $0, size) }
        }
        if result == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    func accept() -> Connection? {
        let client = Glibc.accept(descriptor, nil, nil)
        return client < 0 ? nil : Connection(client)
    }

    /// nil at the end.
    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    func send(_ text: String) {
        _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }
}
