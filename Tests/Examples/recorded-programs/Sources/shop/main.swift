import Glibc
import OperationEngine
import OperationEngineRecorder
import ProgramParts
import Synchronization

import class Foundation.Thread

// shop SECONDS [FAULT]: the requests of a web shop at random times, 500 a second or, with the fault limit, 800. Each has a
// session, and a search or a cart; a page follows both. FAULT is lock, dependency, limit, neighbour or suspension.
//
// scripts/prove-causes records it. Nothing here follows from how opbench analyses a recording.

/// Spends processor time.
func compute(microseconds: Int) {
    func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    let end = now() + 1000 * microseconds
    while now() < end {}
}

let stock = Mutex([Int: Int]())

final class Session: Operation, @unchecked Sendable {
    override func main() {
        usleep(.random(in: 300...900))
        compute(microseconds: 30)
    }
}

final class Search: Operation, @unchecked Sendable {
    override func main() {
        usleep(.random(in: 500...1500))
        stock.withLock { $0[.random(in: 0..<100), default: 0] += 1 }
        compute(microseconds: 100)
    }
}

final class Cart: Operation, @unchecked Sendable {
    override func main() {
        compute(microseconds: 40)
        stock.withLock { $0[.random(in: 0..<100), default: 0] -= 1 }
        usleep(.random(in: 400...800))
    }
}

final class Page: Operation, @unchecked Sendable {
    override func main() { compute(microseconds: 60) }
}

/// The fault `lock`.
final class Recount: Operation, @unchecked Sendable {
    override func main() {
        stock.withLock {
            $0[1] = 5
            usleep(45_000)
        }
    }
}

/// The fault `dependency`.
final class ExchangeRates: Operation, @unchecked Sendable {
    override func main() {
        compute(microseconds: 50)
        usleep(70_000)
    }
}

let words = CommandLine.arguments
let faults = ["lock", "dependency", "limit", "neighbour", "suspension"]
guard 2...3 ~= words.count, let seconds = Double(words[1]), words.count == 2 || faults.contains(words[2]) else {
    print("usage: shop SECONDS [\(faults.joined(separator: "|"))]")
    exit(64)
}
let fault = words.count == 3 ? words[2] : ""

func queue(_ name: String, limit: Int) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = limit
    return queue
}
let (web, pages) = (queue("web", limit: 16), queue("pages", limit: 8))
let database = queue("database", limit: fault == "limit" ? 1 : 16)

if fault == "neighbour" { startNeighbours() }
if fault == "suspension" {
    Thread.detachNewThread {
        while true {
            usleep(650_000)
            web.isSuspended = true
            usleep(50_000)
            web.isSuspended = false
        }
    }
}
TraceRecorder.fromEnvironment()
let begin = Stopwatch.now
// One at a time, the searches and carts of 800 requests take four fifths of a second.
let rate = fault == "limit" ? 800.0 : 500.0
var (number, due) = (0, begin)
while due < begin + Int64(seconds * 1e9) {
    due += Int64(-log(Double.random(in: 1e-9..<1)) / rate * 1e9)
    let wait = due - Stopwatch.now
    if wait > 0 { usleep(UInt32(wait / 1000)) }
    number += 1
    let (session, page) = (Session(), Page())
    let work = number % 3 == 0 ? Cart() : Search()
    page.addDependency(session)
    page.addDependency(work)
    if number % 7 == 0 { page.queuePriority = .high }
    if fault == "dependency", number % 150 == 0 {
        let rates = ExchangeRates()
        work.addDependency(rates)
        web.addOperation(rates)
    }
    if fault == "lock", number % 330 == 0 { database.addOperation(Recount()) }
    web.addOperation(session)
    database.addOperation(work)
    pages.addOperation(page)
    if number % 40 == 0 { pages.addOperation { compute(microseconds: 80) } }
}
// A queue that is suspended now has its operations ended by the thread that resumes it.
for queue in [web, database, pages] { queue.waitUntilAllOperationsAreFinished() }
