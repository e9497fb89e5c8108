import Glibc
import OperationEngine
import OperationEngineRecorder
import ProgramParts

// image-pipeline COUNT LIMIT: draws, blurs and saves COUNT pictures, one about every 8 ms, in three queues of LIMIT
// operations at once. Prints how fast it was.

/// One step with one picture.
class Step: Operation, @unchecked Sendable {
    let picture: Picture
    private let added = Stopwatch.now

    init(_ picture: Picture, after former: Step? = nil) {
        self.picture = picture
        super.init()
        if let former { addDependency(former) }
    }

    override final func main() {
        work()
        stopwatch.note(since: added)
    }

    func work() {}
}

final class Draw: Step, @unchecked Sendable { override func work() { picture.draw() } }
final class Blur: Step, @unchecked Sendable { override func work() { picture.blur() } }
final class Save: Step, @unchecked Sendable { override func work() { picture.save() } }

func queue(_ name: String, limit: Int) -> OperationQueue {
    let queue = OperationQueue()
    (queue.name, queue.maxConcurrentOperationCount) = (name, limit)
    return queue
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard CommandLine.arguments.count == 3, numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else {
    print("usage: image-pipeline COUNT LIMIT")
    exit(64)
}
TraceRecorder.fromEnvironment()
let stopwatch = Stopwatch()
let (drawing, blurring, saving) = (
    queue("drawing", limit: numbers[1]), queue("blurring", limit: numbers[1]), queue("saving", limit: numbers[1])
)
var random = Picture.Random(seed: 1)
var due = Stopwatch.now
for number in 0..<numbers[0] {
    due += Int64(random.next(below: 16_000_000))
    usleep(UInt32(max(0, due - Stopwatch.now) / 1000))
    let picture = Picture(number: number, side: 250 + random.next(below: 500))
    let draw = Draw(picture)
    let blur = Blur(picture, after: draw)
    drawing.addOperation(draw)
    blurring.addOperation(blur)
    saving.addOperation(Save(picture, after: blur))
}
for queue in [drawing, blurring, saving] { queue.waitUntilAllOperationsAreFinished() }
print(stopwatch.line)
