import Glibc
import OperationEngine

/// A signal makes the engine print its queues (contract X6).
@Sendable func snapshotOnSignal(_: [String]) {
    expect(!OperationQueue.printSnapshot(on: SIGKILL) && errno == EINVAL, "SIGKILL is accepted")
    expect(!OperationQueue.printSnapshot(on: 0) && !OperationQueue.printSnapshot(on: 65), "no such signal")
    var ends: [Int32] = [0, 0]
    expect(pipe(&ends) == 0, "no pipe")
    expect(OperationQueue.printSnapshot(on: SIGUSR1, to: ends[1]), "refused")
    let queue = OperationQueue()
    queue.name = "printed"
    queue.isSuspended = true
    queue.addOperation {}
    for _ in 0..<3 {
        kill(getpid(), SIGUSR1)
        waitFor("'printed'", in: ends[0])
    }
    // Another signal, another descriptor. What cannot be written ends nothing.
    var others: [Int32] = [0, 0]
    expect(pipe(&others) == 0, "no pipe")
    expect(OperationQueue.printSnapshot(on: SIGUSR2, to: others[1]), "refused")
    close(ends[0])
    kill(getpid(), SIGUSR1)
    kill(getpid(), SIGUSR2)
    waitFor("'printed'", in: others[0])
    // The descriptor of a signal can be replaced.
    expect(OperationQueue.printSnapshot(on: SIGUSR1, to: others[1]), "refused")
    kill(getpid(), SIGUSR1)
    waitFor("'printed'", in: others[0])
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
}

/// Reads until the word has come.
private func waitFor(_ word: String, in descriptor: Int32) {
    var (text, byte) = ("", UInt8(0))
    while !text.contains(word) {
        expect(read(descriptor, &byte, 1) == 1, "the pipe has ended")
        text.unicodeScalars.append(Unicode.Scalar(byte))
    }
}
