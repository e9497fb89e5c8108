import Foundation
import Testing

/// The threads on which blocking tests run.
///
/// A test that blocks must not do so on Swift's cooperative pool: with two cores, two such tests would stop every
/// other, and on Linux that pool shares Dispatch's threads with Foundation's queues. Tests never wait for each
/// other, so a few threads are enough.
final class TestThreads: TaskExecutor {
    static let shared = TestThreads(count: 4)

    private let jobs = Guarded<[UnownedJob]>([])

    private init(count: Int) {
        for _ in 0..<count {
            Thread.detachNewThread { [unowned self] in run() }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    private func run() {
        while true {
            let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let job {
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else {
                _ = jobs.wait { !$0.isEmpty }
            }
        }
    }
}

/// Runs each test of a suite on a thread outside the cooperative pool, and aborts the process, naming the tests that
/// run, if none ends for `HangLimit.test`. Sees to it that no object of the engine outlives its test.
public struct BlockingTrait: TestTrait, SuiteTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let name = test.displayName ?? test.name
        try await withTaskExecutorPreference(TestThreads.shared) {
            let watched = TestWatch.begin(name)
            defer { TestWatch.end(watched) }
            Leftovers.testBegins(name)
            defer { Leftovers.testEnds() }
            try await function()
        }
    }
}

/// Runs each test of a suite on a thread outside the cooperative pool, for those that compute or wait for long, but not
/// for the engine.
public struct OwnThreadsTrait: TestTrait, SuiteTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let name = test.displayName ?? test.name
        try await withTaskExecutorPreference(TestThreads.shared) {
            let watched = TestWatch.begin(name)
            defer { TestWatch.end(watched) }
            try await function()
        }
    }
}

extension Trait where Self == OwnThreadsTrait {
    /// For suites whose tests take long without suspending.
    public static var onOwnThreads: Self { OwnThreadsTrait() }
}

extension Trait where Self == BlockingTrait {
    /// For suites whose tests block.
    public static var blocking: Self { BlockingTrait() }
}
