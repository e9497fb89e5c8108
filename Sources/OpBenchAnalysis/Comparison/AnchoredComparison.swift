import OpBenchModel

/// Compares a run, or the head of a run of two builds, with the baselines that rules of a policy bound drift against.
///
/// These are runs at different times: ratios within blocks and counts are judged, other figures are inconclusive.
public struct AnchoredComparison: Sendable {
    /// A baseline's name and rows.
    public typealias Baseline = (name: String, samples: [SampleRow])

    private let baselines: [Baseline]
    private let question: Comparison.Question

    public init(_ baselines: [Baseline], _ question: Comparison.Question) {
        (self.baselines, self.question) = (baselines, question)
    }

    /// The judged figures, baseline by baseline.
    ///
    /// Cells and backends of a baseline that the run did not measure are left out.
    ///
    /// - Parameter samples: the rows of a run of one build, or of two.
    public func rows(_ samples: [SampleRow]) throws(InputError) -> [CompareRow] {
        let head = Self.head(of: samples)
        let measured = Set(head.map { [$0.cellID, $0.backend.rawValue] })
        var rows: [CompareRow] = []
        for (name, base) in baselines {
            var question = question
            question.baseline = name
            rows += try Comparison(base: base, head: head, question: question).rows.map { row in
                var row = row
                row.against = name
                return row
            }.filter { question.policy.rule(for: $0) != nil && measured.contains($0.cellAndBackend) }
        }
        return rows
    }

    /// The cells with a figure that is undecided and that more blocks are likely to decide.
    @Sendable public func openCells(_ samples: [SampleRow]) throws -> Set<String> {
        Set(
            try rows(samples).filter {
                $0.verdict == .inconclusive && $0.doubt?.moreBlocks != nil
                    && Metric.named($0.metric)?.isDeterministic != true
            }.map(\.cellID))
    }

    private static func head(of samples: [SampleRow]) -> [SampleRow] {
        guard samples.contains(where: { !$0.side.isEmpty }) else { return samples }
        return samples.filter { $0.side == Side.head.rawValue }.map { row in
            var row = row
            row.side = ""
            return row
        }
    }
}

extension [CompareRow] {
    /// The figures and those that are compared with baselines, which follow the others of their cell and backend.
    public func adding(anchored rows: [CompareRow]) -> [CompareRow] {
        var rest = Dictionary(grouping: rows, by: \.cellAndBackend)
        var all: [CompareRow] = []
        for (index, row) in enumerated() {
            all.append(row)
            let isLast = index + 1 == count || self[index + 1].cellAndBackend != row.cellAndBackend
            if isLast { all += rest.removeValue(forKey: row.cellAndBackend) ?? [] }
        }
        return all + rows.filter { rest[$0.cellAndBackend] != nil }
    }
}

extension CompareRow {
    fileprivate var cellAndBackend: [String] { [figure.cellID, figure.backend.rawValue] }
}
