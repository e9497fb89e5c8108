import Glibc
import OperationEngine
import OperationEngineRecorder
import ProgramParts

import class Foundation.Thread

// downloader COUNT LIMIT: downloads COUNT files from a server of its own on loopback, LIMIT at once, and checks each.
// Prints how fast it was.

/// Gets a file.
final class Download: Operation, @unchecked Sendable {
    private let request: String
    private let port: UInt16
    private let added = Stopwatch.now
    /// Written by `main`, and read by the operation that depends on this one.
    private(set) var content: [UInt8] = []

    init(_ request: String, port: UInt16) { (self.request, self.port) = (request, port) }

    override func main() {
        guard let server = Connection(to: port) else { fatalError("no connection to port \(port)") }
        server.send(request)
        content = server.readAll()
        stopwatch.note(since: added)
    }
}

/// Computes a file's checksum.
final class Check: Operation, @unchecked Sendable {
    private let download: Download
    private let added = Stopwatch.now
    private(set) var sum: UInt64 = 0

    init(_ download: Download) {
        self.download = download
        super.init()
        addDependency(download)
    }

    override func main() {
        for byte in download.content { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
        stopwatch.note(since: added)
    }
}

/// Answers each connection in a thread of its own: a line with a time in microseconds and a size, that time later.
func serve(_ listener: Connection) {
    while let client = listener.accept() {
        Thread.detachNewThread {
            let words = client.readLine()?.split(separator: " ").compactMap { UInt32($0) } ?? []
            guard words.count == 2 else { return }
            usleep(words[0])
            client.send([UInt8](repeating: 7, count: Int(words[1])))
        }
    }
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard CommandLine.arguments.count == 3, numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else {
    print("usage: downloader COUNT LIMIT")
    exit(64)
}
guard let listener = Connection(listeningOn: 0) else { fatalError("no port on loopback") }
TraceRecorder.fromEnvironment()
let stopwatch = Stopwatch()
Thread.detachNewThread { serve(listener) }
let (downloads, checks) = (OperationQueue(), OperationQueue())
for (queue, name) in [(downloads, "downloads"), (checks, "checks")] {
    (queue.name, queue.maxConcurrentOperationCount) = (name, numbers[1])
}
for number in 0..<numbers[0] {
    // Mostly 5 ms and 20 kB, every tenth 30 ms and 500 kB.
    let download = Download(number % 10 == 9 ? "30000 500000\n" : "5000 20000\n", port: listener.port)
    downloads.addOperation(download)
    checks.addOperation(Check(download))
}
downloads.waitUntilAllOperationsAreFinished()
checks.waitUntilAllOperationsAreFinished()
print(stopwatch.line)
