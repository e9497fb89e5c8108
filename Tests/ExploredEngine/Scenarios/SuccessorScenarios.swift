import Interleaving

/// The successor list: dependencies come, go and finish, and dependents disappear.
let successorScenarios: [Scenario] = [
    Scenario("add-dependency-while-it-finishes", "E1, E25: a dependent is ready once its dependency is finished") {
        exploration in
        let (dependency, dependent) = (BlockOperation {}, BlockOperation {})
        exploration.run({ dependency.start() }, { dependent.addDependency(dependency) })
        exploration.check(dependent.isReady, "E25: never becomes ready")
        exploration.check(dependent.state.load().unfinishedDependencies == 0, "E25: the count is wrong")
    },
    Scenario("two-dependents-join-while-it-finishes", "E25: the list takes both, or both find it finished") {
        exploration in
        let (dependency, first, second) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        exploration.run(
            { dependency.start() }, { first.addDependency(dependency) }, { second.addDependency(dependency) })
        exploration.check(first.isReady && second.isReady, "E25: one never becomes ready")
    },
    Scenario("remove-dependency-while-it-finishes", "E13: counted down once, by the thread that takes the edge out") {
        exploration in
        for repetitions in 1...2 {
            let (dependency, dependent) = (BlockOperation {}, BlockOperation {})
            for _ in 1...repetitions { dependent.addDependency(dependency) }
            exploration.run({ dependency.start() }, { dependent.removeDependency(dependency) })
            exploration.check(dependent.state.load().unfinishedDependencies == 0, "E13: the count is wrong")
            exploration.check(dependent.dependencies.isEmpty, "E13: still listed")
        }
    },
    Scenario(
        "dependent-is-removed-and-goes-while-dependency-finishes", "E13, E21: nothing uses it once it is removed"
    ) { exploration in
        let dependency = BlockOperation {}
        let dependent = Shared<BlockOperation?>(BlockOperation {})
        dependent.value?.addDependency(dependency)
        exploration.run(
            { dependency.start() },
            {
                dependent.value?.removeDependency(dependency)
                dependent.value = nil
            })
        exploration.check(dependency.successors.isEmpty, "E21: it is left in the list")
    },
    Scenario("two-first-dependencies", "E4, E12, E25: two threads add the first dependency; both are listed") {
        exploration in
        let (one, other, dependent) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        exploration.run(
            { dependent.addDependency(one) },
            {
                dependent.addDependency(other)
                other.start()
            })
        exploration.check(!dependent.isReady, "E4: ready before its dependency has finished")
        exploration.check(Set(dependent.dependencies) == [one, other], "E12: one is not listed")
        one.start()
        exploration.check(dependent.isReady, "E25: never becomes ready")
        dependent.removeDependency(one)
        exploration.check(dependent.dependencies == [other], "E13: the wrong one is removed")
    },
    Scenario(
        "only-dependent-leaves-as-another-joins", "E13, E21, E25: an edge is pushed in front of it, or alone"
    ) { exploration in
        for isRemoved in [true, false] {
            let dependency = BlockOperation {}
            let (only, newcomer) = (Shared<BlockOperation?>(BlockOperation {}), BlockOperation {})
            only.value?.addDependency(dependency)
            exploration.run(
                {
                    exploration.point()
                    if isRemoved { only.value?.removeDependency(dependency) }
                    only.value = nil
                }, { newcomer.addDependency(dependency) }, { dependency.start() })
            exploration.check(newcomer.isReady, "E25: never becomes ready")
            exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
        }
    },
    Scenario(
        "another-dependency-while-the-first-finishes", "E4, E13: it waits for the one that is added, and only for it"
    ) { exploration in
        let (first, second, dependent) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        dependent.addDependency(first)
        exploration.run(
            { first.start() }, { dependent.addDependency(second) }, { dependent.removeDependency(first) })
        exploration.check(dependent.state.load().unfinishedDependencies == 1, "E4: the count is wrong")
        exploration.check(dependent.dependencies == [second], "E12: the wrong ones are listed")
        second.start()
        exploration.check(dependent.isReady, "E25: never becomes ready")
    },
    Scenario("dependent-goes-while-dependency-finishes", "E21: the edge of a dependent that is gone is not followed") {
        exploration in
        let dependency = BlockOperation {}
        let dependent = Shared<BlockOperation?>(BlockOperation {})
        dependent.value?.addDependency(dependency)
        exploration.run(
            { dependency.start() },
            {
                exploration.point()
                dependent.value = nil
            })
        exploration.check(dependency.isFinished, "E21: not finished")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario("two-dependents-go-while-dependency-finishes", "E21: neighbours in the list too") { exploration in
        let dependency = BlockOperation {}
        let dependents = Shared<[BlockOperation]>((0..<3).map { _ in BlockOperation {} })
        for dependent in dependents.value { dependent.addDependency(dependency) }
        let last = dependents.value.removeLast()
        exploration.run(
            { dependency.start() },
            {
                exploration.point()
                dependents.value.removeAll()
            })
        exploration.check(last.isReady, "E21: the one that stays is not ready")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario(
        "one-is-removed-and-one-goes-while-they-are-released",
        "E13, E21: each edge of a short list is counted down once"
    ) { exploration in
        let dependency = BlockOperation {}
        let (stays, leaves) = (BlockOperation {}, BlockOperation {})
        let goes = Shared<BlockOperation?>(BlockOperation {})
        stays.addDependency(dependency)
        goes.value?.addDependency(dependency)
        leaves.addDependency(dependency)
        exploration.run(
            { dependency.start() }, { leaves.removeDependency(dependency) },
            {
                exploration.point()
                goes.value = nil
            })
        for operation in [stays, leaves] {
            exploration.check(operation.state.load().unfinishedDependencies == 0, "E13: the count is wrong")
        }
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario(
        "middle-one-goes-while-another-joins", "E21, E25: neighbours are found whatever is pushed meanwhile"
    ) { exploration in
        let dependency = BlockOperation {}
        let dependents = Shared<[BlockOperation]>((0..<3).map { _ in BlockOperation {} })
        for dependent in dependents.value { dependent.addDependency(dependency) }
        let newcomer = BlockOperation {}
        exploration.run(
            {
                exploration.point()
                dependents.value.remove(at: 1)
            },
            { newcomer.addDependency(dependency) })
        dependents.value.remove(at: 0)
        dependency.start()
        exploration.check(newcomer.isReady && dependents.value[0].isReady, "E25: one never becomes ready")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario(
        "one-of-many-goes-while-they-are-released", "E21, E25: between two rounds of the release the list is a list"
    ) { exploration in
        let dependency = BlockOperation {}
        let dependents = Shared<[BlockOperation]>((0..<68).map { _ in BlockOperation {} })
        for dependent in dependents.value { dependent.addDependency(dependency) }
        let rest = dependents.value.removeFirst()
        let last = dependents.value.removeLast()
        exploration.run(
            { dependency.start() },
            {
                exploration.point()
                dependents.value.removeLast()
            })
        let isEachReady = dependents.value.allSatisfy(\.isReady)
        exploration.check(rest.isReady && last.isReady && isEachReady, "E25: one never becomes ready")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario(
        "oldest-of-many-goes-while-they-are-released", "E21, E25: the one without an edge is counted down once"
    ) { exploration in
        let dependency = BlockOperation {}
        let oldest = Shared<BlockOperation?>(BlockOperation {})
        oldest.value?.addDependency(dependency)
        let dependents = (0..<66).map { _ in BlockOperation {} }
        for dependent in dependents { dependent.addDependency(dependency) }
        exploration.run(
            { dependency.start() },
            {
                exploration.point()
                oldest.value = nil
            })
        exploration.check(dependents.allSatisfy(\.isReady), "E25: one never becomes ready")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario(
        "two-of-many-are-removed-while-they-are-released", "E13: counted down once, in whichever round their turn is"
    ) { exploration in
        let dependency = BlockOperation {}
        let dependents = (0..<68).map { _ in BlockOperation {} }
        for dependent in dependents { dependent.addDependency(dependency) }
        exploration.run(
            { dependency.start() },
            {
                dependents[1].removeDependency(dependency)
                dependents[67].removeDependency(dependency)
            })
        let isEachCounted = dependents.allSatisfy { $0.state.load().unfinishedDependencies == 0 }
        exploration.check(isEachCounted, "E13: a count is wrong")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario(
        "successors-locked-in-a-wait", "E21: a thread that sleeps for the list is woken by the unlock", bounds: (1, 2)
    ) { exploration in
        let dependency = BlockOperation {}
        let dependents = (0..<2).map { _ in BlockOperation {} }
        for dependent in dependents { dependent.addDependency(dependency) }
        let newcomer = BlockOperation {}
        let word = Atomic<UInt32>(0)
        exploration.run(
            {
                let (first, isClosed) = dependency.successors.lock()
                // Long enough for the others to give up spinning.
                Futex.wait(word, expected: 0, timeoutNanoseconds: 1_000)
                dependency.successors.unlock(leaving: first, isClosed: isClosed)
            },
            { dependents[0].removeDependency(dependency) },
            { newcomer.addDependency(dependency) })
        dependency.start()
        exploration.check(newcomer.isReady && dependents[1].isReady, "E25: one never becomes ready")
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario("observed-dependent-goes", "E21, D18: nor that of an observed dependent") { exploration in
        let dependency = BlockOperation {}
        let dependent = Shared<BlockOperation?>(BlockOperation {})
        let token = dependent.value?.observe(\.isReady) { _, _ in }
        dependent.value?.addDependency(dependency)
        exploration.run(
            { dependency.start() },
            {
                exploration.point()
                dependent.value = nil
            })
        withExtendedLifetime(token) {}
        exploration.check(dependency.successors.isEmpty, "E21: an edge is left")
    },
    Scenario("node-goes-while-its-dependencies-finish", "E21: a dependent that is gone is not counted down") {
        exploration in
        let (one, other) = (BlockOperation {}, BlockOperation {})
        let dependent = Shared<BlockOperation?>(BlockOperation {})
        let last = BlockOperation {}
        Operation.addDependencies(
            [(2, 0), (2, 1), (3, 0), (3, 1)], among: [one, other, dependent.value!, last])
        exploration.run(
            { one.start() }, { other.start() },
            {
                exploration.point()
                dependent.value = nil
            })
        exploration.check(last.isReady, "E25: the one that stays is not ready")
        exploration.check(last.state.load().unfinishedDependencies == 0, "E4: the count is wrong")
    },
    Scenario("observed-node-goes", "E21, D18: nor an observed one") { exploration in
        let dependency = BlockOperation {}
        let dependent = Shared<BlockOperation?>(BlockOperation {})
        Operation.addDependencies([(1, 0), (2, 0)], among: [dependency, dependent.value!, BlockOperation {}])
        let token = dependent.value?.observe(\.isReady) { _, _ in }
        exploration.run(
            { dependency.start() },
            {
                exploration.point()
                dependent.value = nil
            })
        withExtendedLifetime(token) {}
        exploration.check(dependency.isFinished, "E21: not finished")
    },
    Scenario("removed-from-a-node-while-it-finishes", "E13: counted once, by the thread that clears the bit") {
        exploration in
        let (dependency, dependent) = (BlockOperation {}, Shared<BlockOperation?>(BlockOperation {}))
        let second = BlockOperation {}
        Operation.addDependencies([(1, 0), (1, 0), (1, 2)], among: [dependency, dependent.value!, second])
        exploration.run({ dependency.start() }, { dependent.value!.removeDependency(dependency) }, { second.start() })
        exploration.check(dependent.value!.state.load().unfinishedDependencies == 0, "E13: the count is wrong")
        exploration.check(dependent.value!.dependencies == [second], "E13: the wrong ones are listed")
        dependent.value = nil
    },
    Scenario("graph-is-declared-while-one-finishes", "E10, E25: the node is found, or the finish") { exploration in
        let (dependency, first, second) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        exploration.run(
            { Operation.addDependencies([(1, 0), (2, 0), (2, 1)], among: [dependency, first, second]) },
            { dependency.start() })
        exploration.check(first.isReady && !second.isReady, "E25: the first one is not ready, or the second")
        first.start()
        exploration.check(second.isReady, "E25: never becomes ready")
    },
    Scenario("graph-is-declared-twice-at-once", "E12, E25: of two threads one gets the operations' nodes") {
        exploration in
        let (one, other, dependent) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        exploration.run(
            { Operation.addDependencies([(1, 0), (2, 0)], among: [one, dependent, BlockOperation {}]) },
            { Operation.addDependencies([(1, 0), (0, 2), (1, 2)], among: [other, dependent, one]) })
        exploration.check(Set(dependent.dependencies) == [one, other], "E12: one is not listed")
        exploration.check(other.dependencies == [one], "E12: not listed")
        exploration.check(!dependent.isReady && !other.isReady, "E4: ready too early")
        for operation in [one, other] { operation.start() }
        exploration.check(dependent.isReady, "E25: never becomes ready")
        exploration.check(dependent.state.load().unfinishedDependencies == 0, "E4: the count is wrong")
    },
    Scenario("edges-come-and-go-before-a-node", "E13, E21, E25: while the node's dependents are counted down") {
        exploration in
        let (dependency, dependent, newcomer) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        let leaves = BlockOperation {}
        Operation.addDependencies([(1, 0), (2, 0)], among: [dependency, dependent, BlockOperation {}])
        leaves.addDependency(dependency)
        exploration.run(
            { dependency.start() }, { newcomer.addDependency(dependency) }, { leaves.removeDependency(dependency) })
        for operation in [dependent, newcomer, leaves] {
            exploration.check(operation.state.load().unfinishedDependencies == 0, "E25: the count is wrong")
        }
    },
    Scenario("last-two-dependencies", "E4, D15, E24: the last of two makes it ready, once, and it runs once") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let (first, second) = (BlockOperation { log.add("first") }, BlockOperation { log.add("second") })
        let dependent = BlockOperation {
            exploration.check(log.count("first") + log.count("second") == 2, "E24: before its dependencies")
            log.add("dependent")
        }
        dependent.addDependency(first)
        dependent.addDependency(second)
        queue.addOperation(dependent)
        exploration.run({ first.start() }, { second.start() })
        exploration.settle()
        exploration.checkOnce(log, "dependent", "E25")
        exploration.checkEmpty(queue, "E25")
    },
    Scenario("ready-is-notified-once", "D15: an observer hears once that the last dependency has finished") {
        exploration in
        let (first, second, dependent) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        dependent.addDependency(first)
        dependent.addDependency(second)
        let heard = Shared(0)
        let token = dependent.observe(\.isReady, options: [.new]) { _, change in
            if change.newValue == true { heard.value += 1 }
        }
        exploration.run({ first.start() }, { second.start() })
        exploration.check(dependent.isReady, "E4: not ready")
        exploration.check(heard.value == 1, "D15: heard \(heard.value) times")
        withExtendedLifetime(token) {}
    },
    Scenario("add-while-dependency-finishes", "E20, E25: an operation on its way into the queue is filed by somebody") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let dependency = BlockOperation {}
        let dependent = BlockOperation { log.add("dependent") }
        dependent.addDependency(dependency)
        exploration.run({ queue.addOperation(dependent) }, { dependency.start() })
        exploration.settle()
        exploration.checkOnce(log, "dependent", "E25")
        exploration.checkEmpty(queue, "E25")
    },
    Scenario("bulk-add-while-dependency-finishes", "E25: those of a batch too") { exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let dependency = BlockOperation {}
        let dependent = BlockOperation { log.add("dependent") }
        let other = BlockOperation { log.add("other") }
        dependent.addDependency(dependency)
        exploration.run(
            { queue.addOperations([dependent, other], waitUntilFinished: false) }, { dependency.start() })
        exploration.settle()
        exploration.checkOnce(log, "dependent", "E25")
        exploration.checkOnce(log, "other", "M3")
        exploration.checkEmpty(queue, "E25")
    },
    Scenario("late-dependency", "E18: one added to a waiting operation blocks it, or comes after its beginning") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let late = BlockOperation { log.add("late") }
        let operation = BlockOperation { log.add("operation") }
        exploration.run(
            { queue.addOperation(operation) },
            {
                operation.addDependency(late)
                let hasBegun = operation.state.load().phase.rawValue >= OperationState.Phase.dispatched.rawValue
                exploration.point()
                exploration.check(hasBegun || log.count("operation") == 0, "E18: has run unblocked")
                late.start()
            })
        exploration.settle()
        exploration.checkOnce(log, "operation", "E18")
        exploration.checkEmpty(queue, "E18")
    },
    Scenario(
        "late-dependency-finishes", "E1, E18: it finishes while it is added; the operation waits for the other one"
    ) {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let (first, late) = (BlockOperation {}, BlockOperation {})
        let operation = BlockOperation {
            exploration.check(first.isFinished, "E1: before its dependency")
            log.add("operation")
        }
        operation.addDependency(first)
        queue.addOperation(operation)
        exploration.run({ operation.addDependency(late) }, { late.start() })
        exploration.settle()
        first.start()
        exploration.settle()
        exploration.checkOnce(log, "operation", "E18")
        exploration.checkEmpty(queue, "E18")
    },
    Scenario("remove-or-cancel-or-finish", "E13, J4: three ways to become ready, and one run", bounds: (1, 2)) {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let dependency = BlockOperation {}
        let operation = BlockOperation { log.add("operation") }
        operation.completionBlock = { log.add("completion") }
        operation.addDependency(dependency)
        queue.addOperation(operation)
        exploration.run(
            { dependency.start() }, { operation.removeDependency(dependency) }, { operation.cancel() })
        exploration.settle()
        exploration.check(operation.isFinished, "J5: not finished")
        exploration.check(log.count("operation") <= 1, "E24: has run twice")
        exploration.checkOnce(log, "completion", "I1")
        exploration.checkEmpty(queue, "E13")
    },
]
