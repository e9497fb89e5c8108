import Glibc
import OperationEngine
import OperationEngineRecorder
import ProgramParts

import class Foundation.Thread

// thumbnail-server PORT [FAULT]: answers each line, a width, by the checksum of a picture of that width, until SIGINT.
// FAULT gives it one of the faults of servers that `opbench trace` names: see `Fault`.
// thumbnail-server load PORT COUNT [WIDTH [PAUSE]]: sends COUNT such lines on four connections. Every fiftieth is WIDTH,
// 2000 if it is left out, and all others are 100. After each answer it pauses for PAUSE milliseconds, 0 if left out.

/// Draws a picture.
final class Drawing: Operation, @unchecked Sendable {
    private let width: Int
    private let faults: Faults
    /// Written by `main`, and read by the operation that depends on this one.
    private(set) var sum: UInt64 = 0

    init(width: Int, faults: Faults) { (self.width, self.faults) = (width, faults) }

    override func main() {
        faults.look()
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
    private let faults: Faults

    init(_ fault: Fault?) {
        (drawings.name, answers.name) = ("drawings", "answers")
        drawings.maxConcurrentOperationCount = fault == .limit ? 1 : fault == .lock ? 4 : 2
        faults = Faults(fault, drawings)
    }

    /// Accepts connections, and never returns.
    func accept(on listener: Connection) {
        while let client = listener.accept() {
            Thread.detachNewThread { [self] in
                while let width = client.readLine().flatMap({ Int($0) }) {
                    let drawing = Drawing(width: width, faults: faults)
                    let answer = Answer(drawing, to: client)
                    if width <= 100 { drawing.queuePriority = .high }
                    faults.request(answer)
                    drawings.addOperation(drawing)
                    answers.addOperation(answer)
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
if 4...6 ~= words.count, words[1] == "load", let port = UInt16(words[2]), let count = Int(words[3]),
    let pause = words.count == 6 ? UInt32(words[5]) : 0
{
    load(port: port, count: count, width: words.count > 4 ? words[4] : "2000", pause: pause)
    exit(0)
}
let fault = words.count == 3 ? Fault(rawValue: words[2]) : nil
guard words.count == 2 || fault != nil, let listener = UInt16(words[1]).flatMap({ Connection(listeningOn: $0) }) else {
    print("usage: thumbnail-server PORT [FAULT], with a free port or 0")
    print("       thumbnail-server load PORT COUNT [WIDTH [PAUSE]]")
    print("faults: \(Fault.allCases.map(\.rawValue).joined(separator: ", "))")
    exit(64)
}
// Also blocked in the threads that start from here on.
var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGINT)
sigaddset(&signals, SIGTERM)
pthread_sigmask(SIG_BLOCK, &signals, nil)
TraceRecorder.fromEnvironment()
let server = Server(fault)
Thread.detachNewThread { server.accept(on: listener) }
print("ready on port \(listener.port)")
fflush(nil)
var number: Int32 = 0
sigwait(&signals, &number)
server.finish()
