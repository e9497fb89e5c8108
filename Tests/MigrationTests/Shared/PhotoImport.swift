import Foundation

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
    import enum OperationEngine.QualityOfService
#endif

/// Filters a downloaded photo. Two with the same source are equal.
final class FilterOperation: Operation, @unchecked Sendable {
    let source: String
    var input: Data?
    private(set) var output: [UInt8] = []

    init(source: String) {
        self.source = source
        super.init()
    }

    override func main() {
        guard let input else { return }
        for byte in input {
            if isCancelled { return }
            output.append(byte ^ 0x20)
        }
    }

    override func isEqual(_ object: Any?) -> Bool { (object as? FilterOperation)?.source == source }
    override var hash: Int { source.hash }
    override var description: String { "filter for \(source)" }
}

/// Downloads photos, filters them and collects them: three queues, operations that depend on each other across them,
/// and adapters that hand over what one has made to the next.
final class PhotoImport: @unchecked Sendable {
    private(set) var photos: [String: String] = [:]
    private(set) var finished: [String] = []
    let downloads = OperationQueue()
    let filters = OperationQueue()
    let collection: OperationQueue
    private let lock = NSLock()

    init(parallel: Int = 3) {
        downloads.maxConcurrentOperationCount = parallel
        downloads.name = "downloads"
        downloads.qualityOfService = .utility
        filters.qualityOfService = .userInitiated
        collection = OperationQueue()
        collection.maxConcurrentOperationCount = 1
    }

    @discardableResult
    func add(_ name: String, from url: URL, priority: Operation.QueuePriority = .normal) -> Operation {
        let download = DownloadOperation(url: url)
        download.queuePriority = priority
        download.completionBlock = { [weak self] in self?.lock.withLock { self?.finished.append(name) } }
        let filter = FilterOperation(source: name)
        let adapter = BlockOperation { [unowned download, unowned filter] in filter.input = download.data }
        adapter.addDependency(download)
        filter.addDependency(adapter)
        let collecting = BlockOperation { [weak self, unowned filter] in
            guard !filter.isCancelled, !filter.output.isEmpty else { return }
            self?.lock.withLock { self?.photos[name] = String(decoding: filter.output, as: UTF8.self) }
        }
        collecting.addDependency(filter)

        collection.addOperation(collecting)
        filters.addOperations([filter, adapter], waitUntilFinished: false)
        downloads.addOperation(download)
        return collecting
    }

    var pendingDownloads: [DownloadOperation] {
        downloads.operations.compactMap { $0 as? DownloadOperation }.filter { !$0.isExecuting }
    }

    func pause() { downloads.isSuspended = true }
    func resume() { downloads.isSuspended = false }

    func cancel() {
        // From the end: what is cancelled unlocks what depends on it.
        for queue in [collection, filters, downloads] { queue.cancelAllOperations() }
    }

    func waitUntilDone() {
        for queue in [downloads, filters, collection] { queue.waitUntilAllOperationsAreFinished() }
    }
}

/// The seeds' helper: starts an operation by hand if that is possible now.
func performOperation(_ operation: Operation) -> Bool {
    if operation.isReady, !operation.isCancelled {
        if operation.isAsynchronous {
            Thread.detachNewThread { operation.start() }
        } else {
            operation.start()
        }
        return true
    }
    guard operation.isCancelled, !operation.isFinished else { return false }
    operation.start()
    return true
}
