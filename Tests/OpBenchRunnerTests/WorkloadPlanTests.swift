import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct WorkloadPlanTests {
    @Test func `the generator is SplitMix64`() {
        var generator = SplitMix64(seed: 0)
        #expect(generator.next() == 0xE220_A839_7B1D_CDAF)
        #expect(generator.next() == 0x6E78_9E6A_A1B9_65F4)
    }

    @Test func `shuffling keeps the elements and follows the seed`() {
        var first = SplitMix64(seed: 7)
        var second = SplitMix64(seed: 7)
        var third = SplitMix64(seed: 8)
        let numbers = Array(0..<50)
        let shuffled = first.shuffled(numbers)
        #expect(shuffled == second.shuffled(numbers))
        #expect(shuffled != third.shuffled(numbers))
        #expect(shuffled.sorted() == numbers)
    }

    @Test func `the same seed draws the same classes, and another seed draws others`() throws {
        let parameters = { (seed: Int) in #"{"operations": 500, "seed": \#(seed)}"# }
        let first = try Fixture.plan("priority_mix", parameters(3)).classes
        let again = try Fixture.plan("priority_mix", parameters(3)).classes
        let other = try Fixture.plan("priority_mix", parameters(4)).classes
        #expect(first == again)
        #expect(first != other)
    }

    @Test func `classes are drawn by weight, lowest first, without those of weight zero`() throws {
        let plan = try Fixture.plan("priority_mix", #"{"operations": 10000, "mix": {"high": 3, "low": 1}}"#)
        let classes = try #require(plan.classes)
        #expect(classes.keys == ["low", "high"])
        #expect(classes.values == [-4, 4])
        #expect(classes.name(1) == "priority=high")
        let high = classes.ofOperation.count { $0 == 1 }
        #expect((7200...7800).contains(high))
    }

    @Test func `thread priorities are sorted by value, not by text`() throws {
        let plan = try Fixture.plan("thread_priority", #"{"operations": 9, "mix": {"1.0": 1, "0.05": 1, "0.5": 1}}"#)
        #expect(plan.classes?.values == [0.05, 0.5, 1.0])
        #expect(plan.threadPriorities?.competitors == 2)
    }

    @Test func `the last operation takes the rest`() throws {
        let plan = try Fixture.plan("independent", #"{"items": 103, "items_per_operation": 10}"#)
        #expect(plan.operationCount == 11)
        #expect(plan.lastItems == 3)
    }

    @Test func `more items per operation than items give one operation`() throws {
        let plan = try Fixture.plan("independent", #"{"items": 5, "items_per_operation": 100}"#)
        #expect(plan.operationCount == 1)
        #expect(plan.lastItems == 5)
    }

    @Test func `links of a chain follow each other across queues, whatever the order of adding`() throws {
        let plan = try Fixture.plan("chain", #"{"depth": 4, "chains": 3, "queues": 2, "order": "reverse"}"#)
        #expect(plan.operationCount == 12)
        #expect(plan.predecessorDistance == 3)
        #expect(plan.operation(at: 0) == 11)
        #expect(plan.operation(at: 11) == 0)
        for operation in 3..<12 {
            #expect(plan.queueIndex(of: operation) != plan.queueIndex(of: operation - 3))
            #expect(plan.expectedMark(of: operation) == plan.expectedMark(of: operation - 3) + 1)
        }
    }

    @Test func `producers share the sequence without gap or overlap`() throws {
        let plan = try Fixture.plan("independent", #"{"items": 101, "producers": 4}"#)
        #expect(plan.parts.count == 4)
        #expect(plan.parts.flatMap(Array.init) == Array(0..<101))
        #expect(try Fixture.plan("independent", #"{"items": 2, "producers": 9}"#).parts.count == 2)
    }

    @Test(arguments: Fixture.shapes.indices) func `a shortened plan is consistent`(_ index: Int) throws {
        let (shape, parameters) = Fixture.shapes[index]
        let plan = try Fixture.plan(shape, parameters).shortened(to: 10)
        #expect(plan.operationCount <= 12)
        #expect(plan.lastItems >= 1)
        if let classes = plan.classes { #expect(classes.ofOperation.count == plan.operationCount) }
        if let chains = plan.chains { #expect(chains.depth * chains.count == plan.operationCount) }
    }
}
