import Foundation
import OperationEngine
import OperationEngineRecorder
import TestSupport
import Testing

/// For the sanitizers, which do not see the tests that read recordings.
@Suite("Recording under load", .blocking, .serialized)
struct RecorderUnderLoadTests {
    @Test(
        "recorders begin and end, two at a time, while threads record and end", .contract("X4"), arguments: [4, 512])
    func load(piece: Int) throws {
        let paths = (0..<2).map { _ in TemporaryFolder.unusedPath() }
        let (recordings, ended) = (Counter(), Counter())
        for index in 0..<4 {
            onNewThread {
                var round = 0
                while round < Scale.of(200) || recordings.value < 20 {
                    Self.work(index, round)
                    onThreads(1) { [round] _ in Self.work(index, round) }
                    round += 1
                }
                ended.add()
            }
        }
        var former: TraceRecorder?
        while ended.value < 4 {
            let recorder = TraceRecorder(
                to: paths[recordings.value % 2], limit: 1 << 20, measuresProcessorTime: true, piece: piece,
                mostPieces: 8)
            try recorder.start()
            former?.stop()
            former = recorder
            recordings.add()
        }
        former?.stop()
        for path in paths { #expect(FileManager.default.fileExists(atPath: path)) }
    }

    @Test("after 1,100 recorders no more memory is in use than before", .contract("X4"), .slow)
    func many() throws {
        try passes("recorders", "1100", limit: HangLimit.test / 2)
    }

    private static func work(_ index: Int, _ round: Int) {
        let queue = OperationEngine.OperationQueue()
        queue.name = "\(index) \(round)"
        queue.maxConcurrentOperationCount = index + 1
        let first = MainOperation()
        let second = MainOperation()
        second.addDependency(first)
        queue.addOperations([second, first], waitUntilFinished: false)
        for _ in 0..<5 { queue.addOperation {} }
        if round % 3 == 0 { queue.cancelAllOperations() }
        drains(queue)
    }
}
