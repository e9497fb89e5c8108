import Foundation
import Glibc

/// An HTTP server on a free port of the loopback interface: it answers each request with the path that was asked for.
final class LoopbackServer: @unchecked Sendable {
    let port: UInt16
    private let listening: Int32

    init() throws {
        Self.keepsOpenSSL
        listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (listening, length)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(descriptor, address, size) == 0, listen(descriptor, 16) == 0 else { return Int32(-1) }
                return getsockname(descriptor, address, &length)
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { Self.serve(descriptor) }
    }

    /// OpenSSL, which a URL session brings along, is not torn down when the process ends. A thread that has used it and ends
    /// at the same moment would lock what is freed (`OPENSSL_INIT_NO_ATEXIT` in OPENSSL_init_crypto(3)).
    private static let keepsOpenSSL: Void = {
        guard let address = dlsym(nil, "OPENSSL_init_crypto") else { return }
        let initialize = unsafeBitCast(address, to: (@convention(c) (UInt64, OpaquePointer?) -> Int32).self)
        let withoutTearingDown: UInt64 = 0x0008_0000
        _ = initialize(withoutTearingDown, nil)
    }()

    /// Ends the server: the call that waits for a connection fails.
    deinit { shutdown(listening, Int32(SHUT_RDWR)) }

    func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(port)/\(path)")! }

    private static func serve(_ listening: Int32) {
        while true {
            let connection = accept(listening, nil, nil)
            if connection < 0 { break }
            answer(on: connection)
            close(connection)
        }
        close(listening)
    }

    private static func answer(on connection: Int32) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !String(decoding: request, as: UTF8.self).contains("\r\n\r\n") {
            let count = read(connection, &buffer, buffer.count)
            if count <= 0 { return }
            request += buffer[..<count]
        }
        // GET /path HTTP/1.1
        let path = String(decoding: request, as: UTF8.self).split(separator: " ")[1].dropFirst()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\nConnection: close\r\n\r\n\(path)"
        var rest = Array(answer.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
