import OpBenchModel

/// Tasks that await a continuation, which whoever announces the end resumes.
final class TaskAsynchronous: TaskRound, @unchecked Sendable {
    private struct Unended: Sendable {
        let operation: Int
        let continuation: UnsafeContinuation<Void, Never>

        func end(_ body: OperationBody) {
            body.didAnnounceEnd(operation)
            continuation.resume()
        }
    }

    private let ender: EndingThread<Unended>?

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        ender = plan.announcedEnd == .thread ? EndingThread { $0.end(body) } : nil
        super.init(plan, body)
    }

    override func perform(_ operations: Range<Int>) async {
        let operation = operations.lowerBound
        await withUnsafeContinuation { continuation in
            body.run(operation)
            let unended = Unended(operation: operation, continuation: continuation)
            if let ender { ender.take(unended) } else { unended.end(body) }
        }
    }

    override func teardown() { ender?.dismiss() }
}
