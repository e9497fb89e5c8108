import OpBenchModel

/// Foundation's queues, used as its documentation shows.
package enum FoundationBackend {
    package static let factory = BackendFactory(
        id: .foundation, guarantees: [], ways: ways,
        refusals: [.threadPriority: "Foundation on Linux has no threadPriority"])

    private static let ways: [Shape: Way] = {
        var ways = BackendFactory.libraryWays { FoundationRound($0, $1) }
        ways[.threadPriority] = nil
        ways[.observers] = Way(
            support: {
                .full(
                    note: $0.observers == 0
                        ? "" : "a completion block calls the observers: Foundation on Linux has no key-value observing")
            }, make: { FoundationRound($0, $1) })
        return ways
    }()
}
