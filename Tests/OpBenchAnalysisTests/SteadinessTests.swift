import OpBenchModel
import Testing

@testable import OpBenchAnalysis

@Suite("Steadiness of a cell")
struct SteadinessTests {
    @Test("A cell has the class of most processes", arguments: [(7, 2), (15, 4), (40, 7)])
    func majority(processes: Int, disturbed: Int) {
        func cell(_ others: Int) -> Steadiness? {
            let differing = (0..<others).map { [Steadiness.warmingUp, .slowingDown][$0 % 2] }
            return Steadiness(ofProcesses: differing + Array(repeating: .flat, count: processes - others))
        }
        #expect(cell(0) == .flat && cell(disturbed) == .flat)
        #expect(cell(disturbed + 1) == .inconsistent)
    }

    @Test("Few processes")
    func few() {
        #expect(Steadiness(ofProcesses: []) == nil)
        #expect(Steadiness(ofProcesses: [.warmingUp]) == .warmingUp)
        #expect(Steadiness(ofProcesses: [.warmingUp, .flat]) == .flat)
        #expect(Steadiness(ofProcesses: [.flat, .warmingUp, .noSteadyState]) == .inconsistent)
    }
}
