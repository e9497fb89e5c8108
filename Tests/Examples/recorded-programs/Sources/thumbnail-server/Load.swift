import Glibc
import OperationEngine
import ProgramParts

/// Sends widths on four connections, each a pause after the answer to the one before: mostly 100, every fiftieth another.
///
/// - Parameter pause: in milliseconds.
func load(port: UInt16, count: Int, width: String, pause: UInt32) {
    let clients = OperationQueue()
    clients.maxConcurrentOperationCount = 4
    for client in 0..<4 {
        clients.addOperation {
            guard let server = Connection(to: port) else { fail("no server on port \(port)") }
            for number in stride(from: client, to: count, by: 4) {
                server.send(number % 50 == 49 ? "\(width)\n" : "100\n")
                guard server.readLine() != nil else { fail("the server ended") }
                usleep(1000 * pause)
            }
        }
    }
    clients.waitUntilAllOperationsAreFinished()
    print("\(count) pictures")
}

private func fail(_ reason: String) -> Never {
    print(reason)
    exit(1)
}
