import OpBenchModel

extension SampleKind {
    /// The means of this machine to take samples of the kind.
    var means: ProfileMeans.Answer {
        switch self {
        case .counters: HardwareCounters.means()
        case .instructions: ProfileMeans.ofInstructions()
        case .memory:
            // Without jemalloc they are taken all the same, for the kernel's figures.
            .init(
                .hooks, lack: Allocator.lack.map { "no heap figures: \($0.reason)" } ?? "",
                remedy: Allocator.lack?.remedy ?? "")
        case .throughput, .latency, .check: .init(.hooks)
        }
    }
}

extension HardwareCounters {
    /// Determines whether events can be counted here.
    static func means(by source: any CounterSource = KernelCounters()) -> ProfileMeans.Answer {
        let opened = HardwareCounters(from: source)
        for counter in opened.counters.compactMap(\.self) { source.close(counter) }
        let failed = HardwareEvent.allCases.filter { opened.failures[$0] != nil }
        guard let first = failed.first, let failure = opened.failures[first] else { return .init(.counters) }
        if failed.count == HardwareEvent.allCases.count {
            return .init(nil, lack: failure.reason, remedy: failure.remedy)
        }
        let names = failed.map(\.metric.name).joined(separator: ", ")
        return .init(.counters, lack: "without \(names): \(failure.reason)", remedy: failure.remedy)
    }
}

extension RunPlan {
    /// By kind, what this machine lacks for the planned samples.
    ///
    /// - Throws: `InputError` if an option asks for samples that this machine cannot take.
    func lacks(_ means: (SampleKind) -> ProfileMeans.Answer) throws(InputError) -> [SampleKind: ProfileMeans.Answer] {
        var lacks: [SampleKind: ProfileMeans.Answer] = [:]
        for kind in SampleKind.allCases where samples.contains(where: { $0.kind == kind }) {
            let answer = means(kind)
            if answer.lack.isEmpty { continue }
            if let option = options.optionOfKinds { try answer.require(by: option) }
            lacks[kind] = answer
        }
        return lacks
    }
}

extension ProfileMeans.Answer {
    /// Why samples are not taken; nil if they are.
    var reasonToPass: String? { means == nil ? "not taken: \(lack)" : nil }
}
