import TestSupport
import Testing

@testable import OperationEngine

/// The state of a queue alone, without a thread: every sequence of events up to a length, over a few items, does what a
/// naive model says.
@Suite("The state machine of a queue")
struct QueueStateTests {
    enum Event: Hashable, CustomStringConvertible {
        case add(Int)
        /// A worker comes.
        case choose
        case finish(Int)
        /// A runner ends an item and goes on.
        case finishAndChoose(Int)
        case suspend(Bool)
        case limit(Int)
        case cancel(Int)
        case cancelAll
        case raise(Int)
        case obstruct(Int)
        case free(Int)

        var description: String {
            switch self {
            case .add(let index): "add \(index)"
            case .choose: "choose"
            case .finish(let index): "finish \(index)"
            case .finishAndChoose(let index): "finish \(index) and choose"
            case .suspend(let isSuspended): isSuspended ? "suspend" : "resume"
            case .limit(let limit): "limit \(limit)"
            case .cancel(let index): "cancel \(index)"
            case .cancelAll: "cancel all"
            case .raise(let index): "raise \(index)"
            case .obstruct(let index): "obstruct \(index)"
            case .free(let index): "free \(index)"
            }
        }
    }

    static let casts: [[QueueModel.Kind]] = [
        [.operation(after: []), .high, .low, .operation(after: [0])],
        [.operation(after: [1]), .operation(after: []), .operation(after: [1]), .closure],
        [.closure, .operation(after: []), .closure, .closure],
        [.operation(after: []), .barrier, .operation(after: [0]), .closure],
        [.closure, .barrier, .closure, .barrier],
        [.operation(after: [2]), .barrier, .low, .barrier],
        [.guest, .operation(after: [0]), .barrier, .high],
        [.barrier, .low, .barrier, .operation(after: [1])],
    ]

    @Test("Every sequence of events starts, ends and keeps what the model says", arguments: casts.indices)
    func allSequences(cast: Int) {
        var search = Search(kinds: Self.casts[cast], length: Scale.isDeep ? 6 : 5)
        search.extend(QueueModel(search.kinds), [])
        #expect(search.failure == nil)
        #expect(search.count > 100)
    }

    @Test("With the default limit a slot for each processor, and 64 at least", .contract("N1"))
    func slotsOfTheDefaultLimit() {
        for (processors, slots) in [(1, 64), (64, 64), (96, 96), (512, 512)] {
            let free = QueueState(processors: processors).freeSlots
            #expect(free == slots, "\(processors) processors")
        }
    }

    /// Goes through all sequences, one after the other.
    struct Search {
        let kinds: [QueueModel.Kind]
        let length: Int
        private(set) var count = 0
        private(set) var failure: String?

        init(kinds: [QueueModel.Kind], length: Int) {
            self.kinds = kinds
            self.length = length
        }

        mutating func extend(_ model: QueueModel, _ events: [Event]) {
            if failure != nil { return }
            if events.count == length {
                count += 1
                failure = Self.replay(events, kinds)
                return
            }
            for event in Self.events(after: model) {
                var next = model
                _ = Self.apply(event, to: &next)
                extend(next, events + [event])
            }
        }

        /// The possible events. Items are added in their order, by which nothing is lost: there are casts in other
        /// orders.
        private static func events(after model: QueueModel) -> [Event] {
            var events: [Event] = []
            if let next = model.items.firstIndex(where: { $0.added == nil }) { events.append(.add(next)) }
            if model.hasNext { events.append(.choose) }
            for (index, item) in model.items.enumerated() where item.isRunning {
                events.append(.finish(index))
                events.append(.finishAndChoose(index))
            }
            events.append(.suspend(!model.isSuspended))
            events.append(.limit(model.limit == 1 ? -1 : 1))
            let isAnyLeft = model.items.contains { $0.added != nil && !$0.isFinished && !$0.isCancelled }
            if isAnyLeft { events.append(.cancelAll) }
            for (index, item) in model.items.enumerated() where item.isPending && !item.isCancelled {
                if item.kind != .closure { events.append(.cancel(index)) }
                if case .operation = item.kind, item.level == 2 { events.append(.raise(index)) }
            }
            if case .operation = model.items[0].kind, model.items[0].isPending {
                events.append(model.items[0].isObstructed ? .free(0) : .obstruct(0))
            }
            return events
        }

        private static func apply(_ event: Event, to model: inout QueueModel) -> Int? {
            switch event {
            case .add(let index): model.add(index)
            case .choose: return model.choose()
            case .finish(let index): model.finish(index)
            case .finishAndChoose(let index):
                model.finish(index)
                return model.choose()
            case .suspend(let isSuspended): model.isSuspended = isSuspended
            case .limit(let limit): model.limit = limit == -1 ? 64 : limit
            case .cancel(let index): model.cancel(index)
            case .cancelAll: model.cancelAll()
            case .raise(let index): model.setLevel(index, 4)
            case .obstruct(let index): model.obstruct(index)
            case .free(let index): model.free(index)
            }
            return nil
        }

        private static func apply(_ event: Event, to driver: QueueDriver) -> Int? {
            switch event {
            case .add(let index): driver.add(index)
            case .choose: return driver.choose()
            case .finish(let index): driver.finishAndGo(index)
            case .finishAndChoose(let index):
                driver.finish(index)
                return driver.chooseAgain()
            case .suspend(let isSuspended): driver.setSuspended(isSuspended)
            case .limit(let limit): driver.setLimit(limit)
            case .cancel(let index): driver.cancel(index)
            case .cancelAll: driver.cancelAll()
            case .raise(let index): driver.setLevel(index, .veryHigh)
            case .obstruct(let index): driver.obstruct(index)
            case .free(let index): driver.free(index)
            }
            return nil
        }

        /// Nil if the state did what the model says; else where they part.
        private static func replay(_ events: [Event], _ kinds: [QueueModel.Kind]) -> String? {
            var model = QueueModel(kinds)
            let driver = QueueDriver(kinds)
            for (step, event) in events.enumerated() {
                let (expected, actual) = (apply(event, to: &model), apply(event, to: driver))
                let difference = difference(of: driver, from: model, expected, actual)
                if let difference { return "\(kinds), \(events[...step]): \(difference)" }
            }
            return rest(of: driver, model).map { "\(kinds), \(events), and the rest: \($0)" }
        }

        private static func difference(
            of driver: QueueDriver, from model: QueueModel, _ expected: Int?, _ actual: Int?
        ) -> String? {
            if expected != actual { return "starts \(text(actual)), not \(text(expected))" }
            if driver.runningCount != model.runningCount {
                return "\(driver.runningCount) slots in use, not \(model.runningCount)"
            }
            if model.hasNext, !driver.callsWorkers { return "calls nobody, and something is to be started" }
            let listed = model.items.indices.filter { index in
                let item = model.items[index]
                let isInHand = item.hasSlot && item.kind != .guest
                return item.added != nil && !item.isFinished && item.kind != .closure && !isInHand
            }
            return driver.listed == Set(listed) ? nil : "lists \(driver.listed.sorted()), not \(listed)"
        }

        private static func text(_ index: Int?) -> String { index.map(String.init) ?? "nothing" }

        /// Ends the remaining items, in the model's order; then nothing is left in the state.
        private static func rest(of driver: QueueDriver, _ last: QueueModel) -> String? {
            var model = last
            for event in [Event.suspend(false), .limit(-1)] {
                _ = (apply(event, to: &model), apply(event, to: driver))
            }
            for index in model.items.indices where model.items[index].added == nil {
                model.add(index)
                driver.add(index)
            }
            // Items that wait for what a barrier before them holds back end by being cancelled (contract E16).
            for isLast in [false, true] {
                if isLast { _ = (apply(.cancelAll, to: &model), apply(.cancelAll, to: driver)) }
                while true {
                    let (expected, actual) = (model.choose(), driver.choose())
                    if expected != actual { return "starts \(text(actual)), not \(text(expected))" }
                    guard let index = expected ?? model.items.firstIndex(where: \.isRunning) else { break }
                    model.finish(index)
                    driver.finish(index)
                }
            }
            if !driver.isAtRest { return "something is left" }
            let unfinished = model.items.indices.filter { !model.items[$0].isFinished }
            return unfinished.isEmpty ? nil : "the model keeps \(unfinished)"
        }
    }
}
