import Testing

@testable import OpBenchModel

@Suite("Steadiness of a cell")
struct SteadinessTests {
    @Test("the class of a cell is that of nine tenths of its processes")
    func processes() {
        #expect(Steadiness(ofProcesses: []) == nil)
        #expect(Steadiness(ofProcesses: [.warmingUp]) == .warmingUp)
        #expect(Steadiness(ofProcesses: Array(repeating: .flat, count: 7)) == .flat)
        #expect(Steadiness(ofProcesses: Array(repeating: .flat, count: 6) + [.slowingDown]) == .inconsistent)
        #expect(Steadiness(ofProcesses: Array(repeating: .noSteadyState, count: 9) + [.flat]) == .noSteadyState)
        let others = [Steadiness.warmingUp, .slowingDown]
        #expect(Steadiness(ofProcesses: Array(repeating: .flat, count: 18) + others) == .flat)
        #expect(Steadiness(ofProcesses: Array(repeating: .flat, count: 17) + others) == .inconsistent)
    }

    @Test("the class of a sample is one of its flags")
    func flags() {
        #expect(Steadiness(flags: ["noisy", "no_steady_state", "rerun"]) == .noSteadyState)
        #expect(Steadiness(flags: ["noisy", "short"]) == nil && Steadiness(flags: []) == nil)
    }
}
