import Testing

@testable import OpBenchProfile

@Suite("Names of Swift's functions")
struct SwiftNameTests {
    @Test(
        "A short name has the type, the function and its labels",
        arguments: [
            ("OperationEngine.QueueCore.add(OperationEngine.Operation) -> ()", "QueueCore.add(_:)"),
            ("OperationEngine.QueueCore.signal() -> ()", "QueueCore.signal()"),
            (
                "OperationEngine.QueueCore.settle(choosingFor: OperationEngine.Runner?, _: inout OperationEngine.Choice) -> ()",
                "QueueCore.settle(choosingFor:_:)"
            ),
            ("static OpBenchBackends.WorkKernel.run(Swift.UInt64) -> ()", "WorkKernel.run(_:)"),
            (
                "M.Box<A where A: Swift.Hashable>.put<B>((A, B) -> [A : B], in: Swift.Result<A, B>) -> B",
                "Box.put(_:in:)"
            ),
            ("OperationEngine.QueueCore.operationCount.getter : Swift.Int", "QueueCore.operationCount.getter"),
            ("OperationEngine.Runner.__deallocating_deinit", "Runner.__deallocating_deinit"),
            ("M.free(a: Swift.Int) -> ()", "free(a:)"),
            ("(extension in OpBenchBackends):Dispatch.Queue.submit(body: B) -> ()", "Queue.submit(body:)"),
            (
                "closure #1 (A, B<() -> ()>) -> Swift.Bool? in OperationEngine.QueueCore.drained() async -> Swift.Bool",
                "closure #1 in QueueCore.drained()"
            ),
            ("choose #2 () -> () in M.T.settle(for: A) -> ()", "choose #2 in T.settle(for:)"),
            ("closure #1 () in closure #3 (A) -> () in M.T.run() -> ()", "closure #1 in closure #3 in T.run()"),
        ])
    func short(name: String, short: String) { #expect(SwiftName(name).short == short) }

    @Test(
        "What the compiler made of a function has its name",
        arguments: [
            "generic specialization <Swift.UnsafeMutableRawPointer, [A : (B) -> C]> of M.T.run<A>(of: A) -> ()",
            "merged function signature specialization <Arg[1] = [Closure Propagated : $s1MyyF, Argument Types : []> of "
                + "generic specialization <()> of M.T.run<A>(of: A) -> ()",
            "partial apply forwarder for M.T.run<A>(of: A) -> ()",
        ])
    func unspecialized(name: String) {
        #expect(SwiftName(name).whole == "M.T.run<A>(of: A) -> ()")
        #expect(SwiftName(name).short == "T.run(of:)")
    }

    @Test(
        "Other names stay as they are",
        arguments: [
            "malloc", "[unknown]", "", "operator new(unsigned long)", "swift::RefCounts<A>::retain()", "M.T.run(",
            "generic specialization <A", "static Swift.== infix(A, A) -> Swift.Bool", "closure #1 in",
            "type metadata accessor for M.T", "no caller in engine or workload", "syscall@plt", "a.b<c",
            "arena_malloc.constprop.0", "_int_free.cold",
        ])
    func other(name: String) {
        #expect(SwiftName(name).whole == name)
        #expect(SwiftName(name).short == nil)
    }
}
