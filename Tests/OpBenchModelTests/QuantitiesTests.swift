import Testing

@testable import OpBenchModel

/// Figures as text.
struct QuantitiesTests {
    @Test(arguments: [
        (0.4, "0.40 ns"), (87, "87 ns"), (87.26, "87.3 ns"), (999.4, "999 ns"), (999.6, "1.00 µs"), (1250, "1.25 µs"),
        (40_100_000, "40.1 ms"), (3.2e9, "3.20 s"), (7.2e12, "7200 s"), (0, "0 ns"), (-2.5e9, "−2.50 s"), (.nan, "-"),
    ])
    func time(nanoseconds: Double, text: String) {
        #expect(Quantities.time(nanoseconds) == text)
    }

    @Test func wholeNanoseconds() {
        #expect(Quantities.time(Int64(1000)) == "1 µs" && Quantities.time(Int64.max) == "9223372037 s")
    }

    @Test(arguments: [
        (0, "0 s"), (0.2, "1 s"), (59, "59 s"), (59.5, "1 min 0 s"), (125, "2 min 5 s"), (3600, "1 h 0 min"),
        (3720, "1 h 2 min"), (3721, "1 h 3 min"), (86_340, "23 h 59 min"), (86_341, "1 d 0 h"), (86_400, "1 d 0 h"),
        (93_600, "1 d 2 h"), (93_601, "1 d 3 h"), (-5, "0 s"), (1e300, "36525 d 0 h"), (.infinity, "36525 d 0 h"),
        (.nan, "-"),
    ])
    func wait(seconds: Double, text: String) {
        #expect(Quantities.wait(seconds: seconds) == text)
    }

    @Test func others() {
        #expect(Quantities.bytes(96) == "96 B")
        #expect(Quantities.bytes(1240) == "1.21 KiB")
        #expect(Quantities.count(0.0004) == "0")
        #expect(Quantities.count(0.0123) == "0.012")
        #expect(Quantities.count(14.31) == "14.3")
        #expect(Quantities.count(1_234_567) == "1.23M")
        #expect(Quantities.count(-1000) == "−1k")
        #expect(Quantities.percent(1, of: 3) == "33.3 %" && Quantities.percent(1, of: 0) == "-")
        #expect(Quantities.percent(0.05) == "5 %")
        #expect(Quantities.fixed(0.04, decimals: 1) == "0.0" && Quantities.fixed(-0.04, decimals: 1) == "0.0")
        #expect(Quantities.fixed(9.999, decimals: 2) == "10.00")
        #expect(Quantities.ratio(0.614) == "0.61×")
        #expect(Quantities.ratio(154.3) == "154×")
        #expect(Quantities.ratioInterval(0.744, 1.09) == "0.74–1.09")
        #expect(Quantities.ratioInterval(45.44, 129.4) == "45.4–129")
        #expect(Quantities.ratio(0.006513) == "0.00651×" && Quantities.ratio(0.05) == "0.0500×")
        #expect(Quantities.ratio(0.1) == "0.10×" && Quantities.ratio(0) == "0.00×" && Quantities.ratio(1) == "1.00×")
        #expect(Quantities.ratioInterval(0.002411, 0.45) == "0.00241–0.45")
    }

    @Test(
        "an interval's ends are in the unit of the figure, however far they are from it",
        arguments: [
            (279.2, 531.6, 297, "time", "279–532"), (2150, 4503, 2260, "time", "2.15–4.50"),
            (970, 1250, 980, "time", "970–1250"), (240, 3100, 1300, "time", "0.24–3.10"), (1, 2, 0, "time", "1–2"),
            (1536, 2048, 1600, "peak_resident", "1.50–2"), (900, 2400, 1200, "throughput_ops", "0.90–2.40"),
            (0.0048, 0.0065, 0.0057, "time_ratio", "0.00480–0.00650"),
        ])
    func interval(low: Double, high: Double, figure: Double, metric: String, text: String) {
        #expect(Quantities.interval(low, high, around: figure, of: metric) == text)
    }

    @Test(
        "a change is printed with its sign, to a tenth below ten",
        arguments: [
            (-0.06, "−6 %"), (0.79, "+79 %"), (-0.068, "−6.8 %"), (0.004, "+0.4 %"), (0, "0 %"), (25, "+2500 %"),
            (0.0996, "+10 %"),
        ])
    func change(part: Double, text: String) {
        #expect(Quantities.change(part) == text)
    }

    @Test(
        "values below the clock's resolution are not printed as zero",
        arguments: [(0, 23, "< 23 ns"), (22.9, 23, "< 23 ns"), (23, 23, "23 ns"), (0, 1, "< 1 ns"), (1, 1, "1 ns")])
    func resolution(nanoseconds: Double, resolution: Double, text: String) {
        #expect(Quantities.time(nanoseconds, resolution: resolution) == text)
    }

    @Test(
        "in judged tables too, a time of single operations is never below the clock's resolution, but a mean over many may be",
        arguments: [
            (0, "start_latency", "< 1 µs"), (200, "start_latency", "< 1 µs"), (2000, "start_latency", "2 µs"),
            (200, "time", "200 ns"), (0, "cpu_time", "< 1 µs"), (0, "allocations", "0"),
            (0, "retained_bytes", "0 B"),
        ])
    func figures(value: Double, metric: String, text: String) {
        #expect(Quantities.figure(value, of: metric, resolution: 1000) == text)
    }
}
