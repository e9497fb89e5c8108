import Testing

@testable import OpBenchRunner

@Suite struct CovariatesTests {
    @Test func `steal is the eighth number, in ticks`() {
        #expect(Covariates.steal(inStat: "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 1 2\n") == 2.5e9)
        #expect(Covariates.steal(inStat: "") == nil)
    }

    @Test func `busy is user, nice, system and interrupts`() {
        #expect(Covariates.busy(inStat: "cpu  100 200 300 4000 5000 600 700 8000 9 10\n") == 19e9)
        #expect(Covariates.busy(inStat: "cpu  1 2\n") == nil)
    }

    @Test func `pressure is the total of some`() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 total=7\n"
        #expect(Covariates.pressure(inPSI: text) == 1.5e9)
        #expect(Covariates.pressure(inPSI: "") == nil)
    }

    @Test func `throttling is read from either generation of cgroups`() {
        #expect(Covariates.throttled(inCgroup: "usage_usec 5\nthrottled_usec 2000000\n") == 2e9)
        #expect(Covariates.throttled(inCgroup: "nr_periods 0\nthrottled_time 3000000000\n") == 3e9)
        #expect(Covariates.throttled(inCgroup: "nr_periods 0\n") == nil)
    }

    private func interference(
        steal: Double? = 0, throttled: Double? = 0, seconds: Int64 = 1, referenceLoop: [Int64] = [100_000, 100_000],
        foreign: Double? = nil
    ) -> Interference {
        let before = Covariates(
            steal: steal.map { _ in 0 }, pressure: nil, throttled: throttled.map { _ in 0 }, load: 1,
            foreign: foreign.map { _ in 0 })
        let after = Covariates(
            steal: steal, pressure: nil, throttled: throttled, load: 2, foreign: foreign,
            instant: seconds * 1_000_000_000)
        return Interference(before: before, after: after, referenceLoopNanoseconds: referenceLoop)
    }

    @Test func `interference is stolen time, other processes, throttling, or a slow reference loop`() {
        #expect(!interference().isNoisy)
        #expect(interference(steal: 30e6).isNoisy)
        #expect(!interference(steal: 30e6, seconds: 2).isNoisy)
        #expect(interference(foreign: 260e6).isNoisy)
        #expect(!interference(foreign: 240e6).isNoisy)
        #expect(interference(throttled: 1e6).isNoisy)
        #expect(interference(referenceLoop: [100_000, 126_000]).isNoisy)
        #expect(!interference(referenceLoop: [100_000, 124_000]).isNoisy)
    }

    @Test func `what the system does not tell is absent`() {
        let names = interference(steal: nil, throttled: nil, referenceLoop: []).figures(operations: 1).map(\.metric)
        #expect(names == ["load"])
        #expect(!interference(steal: nil, throttled: nil, referenceLoop: []).isNoisy)
    }

    @Test func `signals have names`() {
        #expect(SignalName.of(11) == "SIGSEGV")
        #expect(SignalName.of(6) == "SIGABRT")
        #expect(SignalName.of(63) == "signal 63")
    }
}
