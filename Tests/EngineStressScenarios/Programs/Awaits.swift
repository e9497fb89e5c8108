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
        for number in 0..<6 {
            running.add()
            let subject = program.subjects[Int.random(in: 0..<program.subjects.count, using: &random)]
            let task = Task.detached { [self] in
                await watch(subject)
                running.remove()
            }
            if number % 3 == 0 { task.cancel() }
            tasks.append(task)
        }
    }

    private func watch(_ subject: Subject) async {
        let operation = program.operation(subject.index)
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
