import OpBenchModel

/// A task group for each group of blocks, with a child for each block.
final class TaskGroups: TaskRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        for group in plan.groups(of: part) {
            body.submitTogether(group, in: plan) { start(group, isTimed: body.takesStamps) }
        }
    }

    override func perform(_ operations: Range<Int>) async {
        let body = body
        await withDiscardingTaskGroup { group in
            for operation in operations { group.addTask { body.run(operation) } }
        }
    }
}
