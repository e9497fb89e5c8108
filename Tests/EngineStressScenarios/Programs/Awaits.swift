import OperationEngine
import TestSupport

/// Tasks that await some operations of a program and its queues; some of the tasks are cancelled (contract O8).
final class Awaits: @unchecked Sendable {
    private let program: Program
    private let running = LiveCount()
    private var tasks: [Task<Void, Never>] = []

    init(_ program: Program) {
        self.program = program
        var random = program.run.generator(77)
        // A task's thread must not run a deinit that waits.
        let subjects = program.subjects.filter { $0.task.isKept }.shuffled(using: &random).prefix(6)
        for (number, subject) in subjects.enumerated() {
            running.add()
            let task = Task.detached { [self] in
                await watch(subject)
                running.remove()
            }
            if number % 3 == 0 { task.cancel() }
            tasks.append(task)
        }
    }

    private func watch(_ subject: Subject) async {
        guard let operation = subject.operation else { return }
        if await operation.finished() {
            program.run.require(operation.hasEnded, "an await of \(subject) returns early (contract O8)")
        } else {
            program.run.require(Task.isCancelled, "an await of \(subject) gives up (contract O8)")
        }
        // The first queue may be dropped, or replaced, meanwhile.
        if let queue = program.queues[0].queue { await queue.drained() }
    }

    /// All is finished: every await returns.
    func end() { program.run.await { running.value == 0 } }
}
