import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct CovariatesTests {
    @Test func `steal is the eighth number, in ticks`() {
        #expect(Covariates.steal(inStat: "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 1 2\n") == 2.5e9)
        #expect(Covariates.steal(inStat: "") == nil)
    }

    @Test func `busy is the processors' time except idle, waiting and stolen time`() {
        let text = "cpu  100 200 300 4000 50 600 700 80 9 10\ncpu0 1 2\ncpu1 1 2\nintr 5\n"
        #expect(Covariates.processors(inStat: text) == 2)
        #expect(Covariates.busy(inStat: text, at: 30_000_000_000) == 60e9 - 41.3e9)
        #expect(Covariates.busy(inStat: "cpu  1 2\n", at: 1) == nil)
        #expect(Covariates.busy(inStat: "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0\n", at: 1) == nil)
    }

    @Test func `pressure is the total of the line some`() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 total=7\n"
        #expect(Covariates.pressure(inPSI: text) == 1.5e9)
        #expect(Covariates.pressure(inPSI: "") == nil)
    }

    @Test func `throttling is read from either version of cgroups`() {
        #expect(Covariates.throttled(inCgroup: "usage_usec 5\nthrottled_usec 2000000\n") == 2e9)
        #expect(Covariates.throttled(inCgroup: "nr_periods 0\nthrottled_time 3000000000\n") == 3e9)
        #expect(Covariates.throttled(inCgroup: "nr_periods 0\n") == nil)
    }

    private func interference(
        steal: Double? = 0, throttled: Double? = 0, seconds: Int64 = 1, referenceLoop: [Int64] = [100_000, 100_000],
        foreign: Double? = nil, processors: Int = 2
    ) -> Interference {
        let before = Covariates(
            steal: steal.map { _ in 0 }, pressure: nil, throttled: throttled.map { _ in 0 }, load: 1,
            foreign: foreign.map { _ in 0 })
        let after = Covariates(
            steal: steal, pressure: nil, throttled: throttled, load: 2, foreign: foreign, processors: processors,
            instant: seconds * 1_000_000_000)
        return Interference(before: before, after: after, referenceLoopNanoseconds: referenceLoop)
    }

    @Test func `interference is stolen time, other processes, throttling, or a slow reference loop`() {
        #expect(!interference().disturbs(.throughput))
        #expect(interference(steal: 30e6).disturbs(.throughput))
        #expect(!interference(steal: 30e6, seconds: 2).disturbs(.throughput))
        #expect(interference(foreign: 260e6).disturbs(.throughput))
        #expect(!interference(foreign: 240e6).disturbs(.throughput))
        #expect(interference(throttled: 1e6).disturbs(.throughput))
        #expect(interference(referenceLoop: [100_000, 126_000]).disturbs(.throughput))
        #expect(!interference(referenceLoop: [100_000, 124_000]).disturbs(.throughput))
    }

    @Test func `a trace reports a busy machine for a throughput sample's disturbances, or because of its own bodies`() {
        #expect(ProfileTaker.busyMachine(interference(), processorWaitShare: 0.04) == nil)
        #expect(ProfileTaker.busyMachine(interference(), processorWaitShare: 0.06) != nil)
        #expect(
            ProfileTaker.busyMachine(interference(foreign: 500e6), processorWaitShare: 0)?.contains("0.50 processors")
                == true)
    }

    @Test func `a hundredth of the processors' time disturbs a latency sample, if it is measurable`() {
        #expect(interference(foreign: 21e6).disturbs(.latency))
        #expect(!interference(foreign: 19e6).disturbs(.latency))
        #expect(interference(seconds: 3, foreign: 61e6).disturbs(.latency))
        #expect(!interference(seconds: 3, foreign: 59e6).disturbs(.latency))
        #expect(!interference(foreign: 150e6, processors: 16).disturbs(.latency))
        #expect(interference(foreign: 170e6, processors: 16).disturbs(.latency))
        for kind in SampleKind.allCases {
            #expect(interference(seconds: 3, foreign: 61e6).disturbs(kind) == (kind == .latency))
        }
    }

    @Test func `missing values of the system are absent`() {
        let names = interference(steal: nil, throttled: nil, referenceLoop: []).figures(operations: 1).map(\.metric)
        #expect(names == ["load"])
        #expect(!interference(steal: nil, throttled: nil, referenceLoop: []).disturbs(.throughput))
    }

    @Test func `signals have names`() {
        #expect(SignalName.of(11) == "SIGSEGV")
        #expect(SignalName.of(6) == "SIGABRT")
        #expect(SignalName.of(63) == "signal 63")
    }
}
