import Glibc
import OperationEngine
import OperationEngineRecorder
import ProgramParts

import class Foundation.Thread

// thumbnail-server PORT: answers each line, a width, by the checksum of a picture of that width, until SIGINT.
// thumbnail-server load PORT COUNT: sends COUNT such lines on four connections.

/// Draws a picture.
final class Drawing: Operation, @unchecked Sendable {
    private let width: Int
    /// Written by `main`, and read by the operation that depends on this one.
    private(set) var sum: UInt64 = 0

    init(width: Int) { self.width = width }

    override func main() {
        var pixel: UInt64 = 1
        for _ in 0..<width * width {
            pixel = pixel &* 6_364_136_223_846_793_005 &+ 1
            sum ^= pixel
        }
    }
}

/// Sends the checksum of a picture.
final class Answer: Operation, @unchecked Sendable {
    private let drawing: Drawing
    private let client: Connection

    init(_ drawing: Drawing, to client: Connection) {
        (self.drawing, self.client) = (drawing, client)
        super.init()
        addDependency(drawing)
    }

    override func main() { client.send("\(drawing.sum)\n") }
}

/// A thread per connection reads and submits; two queues work.
final class Server: Sendable {
    private let drawings = OperationQueue()
    private let answers = OperationQueue()

    init() {
        (drawings.name, answers.name) = ("drawings", "answers")
        drawings.maxConcurrentOperationCount = 2
    }

    /// Accepts connections, and never returns.
    func accept(on listener: Connection) {
        while let client = listener.accept() {
            Thread.detachNewThread { [self] in
                while let width = client.readLine().flatMap({ Int($0) }) {
                    let drawing = Drawing(width: width)
                    if width <= 100 { drawing.queuePriority = .high }
                    drawings.addOperation(drawing)
                    answers.addOperation(Answer(drawing, to: client))
                }
            }
        }
    }

    func finish() {
        drawings.waitUntilAllOperationsAreFinished()
        answers.waitUntilAllOperationsAreFinished()
    }
}

let words = CommandLine.arguments
if words.count == 4, words[1] == "load", let port = UInt16(words[2]), let count = Int(words[3]) {
    load(port: port, count: count)
    exit(0)
}
guard words.count == 2, let listener = UInt16(words[1]).flatMap({ Connection(listeningOn: $0) }) else {
    print("usage: thumbnail-server PORT, with a free port or 0, or thumbnail-server load PORT COUNT")
    exit(64)
}
// Also blocked in the threads that start from here on.
var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGINT)
sigaddset(&signals, SIGTERM)
pthread_sigmask(SIG_BLOCK, &signals, nil)
TraceRecorder.fromEnvironment()
let server = Server()
Thread.detachNewThread { server.accept(on: listener) }
print("ready on port \(listener.port)")
fflush(nil)
var number: Int32 = 0
sigwait(&signals, &number)
server.finish()
