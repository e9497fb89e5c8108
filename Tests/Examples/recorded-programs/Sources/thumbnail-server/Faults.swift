import Glibc
import OperationEngine
import ProgramParts
import Synchronization

import class Foundation.Thread

/// A fault that makes some requests slow.
enum Fault: String, CaseIterable {
    /// One of a thousand requests refreshes the palette, and holds its lock for 60 ms, which all drawings take.
    case lock
    /// One of two hundred answers needs something that takes 50 ms.
    case dependency
    /// Drawings wait for a disk for 5 ms, one at a time.
    case limit
    /// Twice as many processes as there are processors compute.
    case neighbour
    /// The queue of drawings is suspended for 50 ms, twice a second.
    case suspension
}

/// Holds the palette's lock.
final class RefreshPalette: Operation, @unchecked Sendable {
    private let faults: Faults

    init(_ faults: Faults) { self.faults = faults }

    override func main() { faults.palette.withLock { _ in _ = usleep(60_000) } }
}

/// Gets something from far away.
final class Lookup: Operation, @unchecked Sendable {
    override func main() { usleep(50_000) }
}

/// The parts of the server that have the fault.
final class Faults: Sendable {
    let palette = Mutex(0)
    private let fault: Fault?
    private let requests = Atomic(0)
    private let others = OperationQueue()

    init(_ fault: Fault?, _ drawings: OperationQueue) {
        self.fault = fault
        others.name = "others"
        switch fault {
        case .neighbour: startNeighbours()
        case .suspension:
            Thread.detachNewThread {
                while true {
                    usleep(450_000)
                    drawings.isSuspended = true
                    usleep(50_000)
                    drawings.isSuspended = false
                }
            }
        case .lock, .dependency, .limit, nil: break
        }
    }

    /// Before a drawing.
    func look() {
        if fault == .lock { palette.withLock { $0 += 1 } }
        if fault == .limit { usleep(5000) }
    }

    func request(_ answer: Operation) {
        let number = requests.wrappingAdd(1, ordering: .relaxed).newValue
        if fault == .lock, number % 1000 == 0 { others.addOperation(RefreshPalette(self)) }
        if fault == .dependency, number % 200 == 0 {
            let lookup = Lookup()
            answer.addDependency(lookup)
            others.addOperation(lookup)
        }
    }
}
