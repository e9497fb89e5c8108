import Foundation
import OperationEngine
import OperationEngineRecorder
import TestSupport
import Testing

/// For the sanitizers, which do not see the tests that read recordings.
@Suite("Recording under load", .blocking, .serialized)
struct RecorderUnderLoadTests {
    @Test("threads that come and go, begin and end of recordings", .contract("X4"), arguments: [64, 4096])
    func load(capacity: Int) throws {
        let path = TemporaryFolder.unusedPath()
        let recorder = TraceRecorder(to: path, limit: 1 << 20, measuresProcessorTime: true, ringCapacity: capacity)
        let rounds = Scale.of(200)
        for _ in 0..<3 {
            try recorder.start()
            onThreads(4) { index in
                for round in 0..<rounds {
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
            recorder.stop()
        }
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
