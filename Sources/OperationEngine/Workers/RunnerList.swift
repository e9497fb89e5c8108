/// Runners, linked through themselves. Guarded by the lock of the queue that they serve.
struct RunnerList {
    private var first: Unmanaged<Runner>?

    var isEmpty: Bool { first == nil }

    mutating func insert(_ runner: Runner) {
        runner.previousInList = nil
        runner.nextInList = first
        first?._withUnsafeGuaranteedRef { $0.previousInList = .passUnretained(runner) }
        first = .passUnretained(runner)
        runner.isListed = true
    }

    mutating func remove(_ runner: Runner) {
        let (before, after) = (runner.previousInList, runner.nextInList)
        if let before { before._withUnsafeGuaranteedRef { $0.nextInList = after } } else { first = after }
        after?._withUnsafeGuaranteedRef { $0.previousInList = before }
        runner.isListed = false
    }

    func visitAll(_ body: (Runner) -> Void) {
        var link = first
        while let current = link {
            current._withUnsafeGuaranteedRef {
                link = $0.nextInList
                body($0)
            }
        }
    }
}
