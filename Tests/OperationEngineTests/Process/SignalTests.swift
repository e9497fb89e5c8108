import TestSupport
import Testing

@Suite("Signals and what threads inherit", .blocking)
struct SignalTests {
    @Test("the engine's threads leave signals to the application's")
    func mask() throws {
        try passes("signal-mask")
    }

    @Test("a thread that reads signalfd adds operations, also if it blocked the signal after the first use")
    func signalDescriptor() throws {
        try passes("signalfd")
    }

    @Test("a handler of DispatchSource.makeSignalSource adds operations")
    func dispatchSource() throws {
        try passes("dispatch-signal-source")
    }

    @Test("the engine's threads are not confined to the processors of the thread that first used it", .contract("M13"))
    func processors() throws {
        try passes("inherited-processors")
    }
}
