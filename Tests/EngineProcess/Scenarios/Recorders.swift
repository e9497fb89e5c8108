import Glibc
import OperationEngine
import OperationEngineRecorder

/// One recorder after another, as many as the argument says. Some threads record with all of them, and some with the
/// first one only. None ends before the end, and what the recordings took is free again.
@Sendable func recorders(_ arguments: [String]) {
    guard let count = arguments.first.flatMap({ Int($0) }) else { fail("how many?") }
    let threads = 4
    let (begun, recorded, never) = (Count(), Count(), Gate())
    for index in 0..<2 * threads {
        onNewThread {
            for recording in 1...(index < threads ? count : 1) {
                begun.wait(for: recording)
                for _ in 0..<50 { BlockOperation {}.start() }
                recorded.add()
            }
            never.wait()
        }
    }
    for _ in 0..<50 { BlockOperation {}.start() }
    let before = ProcessFacts.heapBytes
    for recording in 1...count {
        let recorder = TraceRecorder(to: "/dev/null")
        do { try recorder.start() } catch { fail("\(error)") }
        begun.add()
        recorded.wait(for: (recording + 1) * threads)
        recorder.stop()
    }
    // Of a thread's memory for one recording, 64 KiB or more, nothing is left. What a recorder itself takes is some
    // hundred bytes.
    let after = ProcessFacts.heapBytes
    expect(after < before + threads << 16 + count << 10, "\(before) bytes in use before, and \(after) after")
}
