import Foundation
import FoundationNetworking
import OperationEngineFoundation
import OperationEngineProgress

import class OperationEngine.OperationQueue

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1
queue.progress.totalUnitCount = 2
let name = Notification.Name("posted")
let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: queue) { _ in
    print("notified in the queue: \(OperationQueue.current === queue)")
}
NotificationCenter.default.post(name: name, object: nil)

let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
let loaded = DispatchSemaphore(value: 0)
session.dataTask(with: URL(string: "data:text/plain,text")!) { data, _, _ in
    print("\(String(decoding: data ?? Data(), as: UTF8.self)) in the queue: \(OperationQueue.current === queue)")
    loaded.signal()
}.resume()
loaded.wait()
queue.waitUntilAllOperationsAreFinished()
print("progress: \(queue.progress.completedUnitCount) of \(queue.progress.totalUnitCount)")
