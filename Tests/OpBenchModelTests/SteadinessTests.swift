import Testing

@testable import OpBenchModel

@Suite("Steadiness of a sample")
struct SteadinessTests {
    @Test("the class of a sample is one of its flags")
    func flags() {
        #expect(Steadiness(flags: ["noisy", "no_steady_state", "rerun"]) == .noSteadyState)
        #expect(Steadiness(flags: ["noisy", "short"]) == nil && Steadiness(flags: []) == nil)
    }
}
