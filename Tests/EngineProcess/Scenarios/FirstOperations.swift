import Glibc
import OperationEngine

/// The first operations of a process, which has no thread but main: they run on other threads while main waits.
@Sendable func firstOperations(_: [String]) {
    let (runs, runsOnMain) = (Count(), Count())
    let main = pthread_self()
    let queue = OperationQueue()
    for _ in 0..<100 {
        queue.addOperation {
            if pthread_equal(pthread_self(), main) != 0 { runsOnMain.add() }
            runs.add()
        }
    }
    queue.waitUntilAllOperationsAreFinished()
    expect(runs.value == 100, "\(runs.value) of 100 ran")
    expect(runsOnMain.value == 0, "\(runsOnMain.value) ran on the main thread")
}
