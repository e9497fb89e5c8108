import OpBenchModel

/// The figures of one run, or of one side of a run that compares two builds, ready to be compared: by cell, backend and
/// figure, one value per block.
struct CellFigures {
    @dynamicMemberLookup
    struct Key: Hashable, Comparable {
        /// In place of the cell's id, the part that both sides of a comparison share: the workload and its parameters
        /// except the ignored ones.
        var name: FigureName
        /// The backend in a ratio's denominator. Ratios with different denominators are different figures.
        var ratioTo = ""

        static func < (left: Key, right: Key) -> Bool { (left.name, left.ratioTo) < (right.name, right.ratioTo) }

        subscript<Part>(dynamicMember part: WritableKeyPath<FigureName, Part>) -> Part {
            get { name[keyPath: part] }
            set { name[keyPath: part] = newValue }
        }

        /// The name of the figure for a cell with this key.
        func name(cellID: String, side: String = "") -> FigureName {
            var name = name
            (name.cellID, name.side) = (cellID, side)
            return name
        }
    }

    struct Series {
        /// The cell's own id, for people.
        var cellID: String
        var runID: String
        var valueOfBlock: [Int: Double]
        /// The program's layout in each block; empty if all blocks ran the linker's own.
        var layoutOfBlock: [Int: Int] = [:]
        /// Whether the machine was busy during most samples of the cell, and the cell is not about waiting.
        var isOfBusyMachine = false
        /// The counts behind the values; nil for figures that vary.
        var counts: RoundCounts?
        var values: [Double] { valueOfBlock.keys.sorted().map { valueOfBlock[$0]! } }

        /// The figure of the whole series: the median or, of counts, the least that two samples agree on.
        var centre: Double? {
            counts.flatMap { counts in counts.agreed.map { $0 / counts.operations } } ?? median(values)
        }

        /// The values by block, each with its unit of replication.
        var replicates: [(value: Double, unit: Int)] {
            valueOfBlock.keys.sorted().map { (valueOfBlock[$0]!, unit(of: $0)) }
        }

        /// The blocks that both have, by block, with their units of replication: the layout of this side, which the
        /// other side's layouts follow.
        func pairs(with head: Series) -> [(base: Double, head: Double, unit: Int)] {
            valueOfBlock.keys.sorted().compactMap { block in
                head.valueOfBlock[block].map { (valueOfBlock[block]!, $0, unit(of: block)) }
            }
        }

        /// Blocks of one layout share its effect and are one replicate; otherwise every block is one.
        private func unit(of block: Int) -> Int { layoutOfBlock[block] ?? block }
    }

    private(set) var series: [Key: Series] = [:]

    /// Two cells of the run that are equal without the ignored parameters; nil if there are none.
    private let twins: [String]?

    /// - Parameters:
    ///   - rows: rows of one run, in any order.
    ///   - side: the side to take; empty for a run without sides.
    ///   - ignored: parameters in which the cells of two sides may differ.
    init(rows: [SampleRow], side: String = "", ignoring ignored: Set<String> = []) {
        struct Group: Hashable {
            var cellID: String
            var backend: BackendID
        }
        // Indices of rows: rows are large, and there may be millions.
        let groups = Dictionary(grouping: rows.indices.filter { rows[$0].side == side }) {
            Group(cellID: rows[$0].cellID, backend: rows[$0].backend)
        }
        let identities = groups.mapValues { rows[$0[0]].cellIdentity(ignoring: ignored) }
        var cells: [String: Set<String>] = [:]
        for (group, identity) in identities { cells[identity, default: []].insert(group.cellID) }
        twins = cells.filter { $0.value.count > 1 }.min { $0.key < $1.key }?.value.sorted()
        var axes: [String: [BackendID: Axis]] = [:]
        var qualities: [String: [SampleQuality]] = [:]
        for (group, indices) in groups {
            let samples = BackendSamples(rows: indices.map { rows[$0] })
            let identity = identities[group]!
            // Without ignored parameters, only a damaged file has twins; they are kept apart.
            let cell = cells[identity]!.count == 1 ? identity : "\(identity)\n\(group.cellID)"
            axes[cell, default: [:]][group.backend] = samples.isTimed ? samples.axis : nil
            qualities[cell, default: []].append(samples.quality)
            for (key, (values, counts)) in samples.comparableValues() {
                let name = FigureName(
                    cellID: cell, backend: group.backend, metric: key.metric, phase: key.phase,
                    operationClass: key.operationClass, stat: key.stat)
                series[Key(name: name)] = Series(
                    cellID: group.cellID, runID: samples.example.runID, valueOfBlock: values,
                    layoutOfBlock: samples.layoutOfBlock, counts: counts)
            }
        }
        let busy = qualities.mapValues(\.areOfBusyMachine)
        for key in series.keys { series[key]!.isOfBusyMachine = busy[key.cellID]! }
        let denominators = axes.mapValues { Denominator(.dispatch, $0) }
        for ratio in BaselineRatio.allCases {
            add(ratio) { denominators[$0.cellID]!.of(axes[$0.cellID]![$0.backend]) }
        }
    }

    /// The same, of a run whose cells differ without the ignored parameters.
    ///
    /// - Throws: `InputError` if two of them are equal.
    func distinct(without ignored: Set<String>) throws(InputError) -> CellFigures {
        guard let twins, !ignored.isEmpty else { return self }
        throw InputError(
            file: "--ignore-parameters",
            message: "without \(ignored.sorted().joined(separator: ", ")) the cells "
                + "\"\(twins[0])\" and \"\(twins[1])\" of one run are the same",
            remedy: "ignore fewer parameters, or compare runs that have one of the two cells each")
    }

    /// - Parameter denominator: the backend in a figure's denominator.
    private mutating func add(_ ratio: BaselineRatio, by denominator: (Key) -> BackendID) {
        for (key, own) in series
        where key.metric == ratio.metric.name && key.phase == ratio.phase && key.operationClass.isEmpty {
            var baselineKey = key
            baselineKey.backend = denominator(key)
            guard key.backend != baselineKey.backend, let baseline = series[baselineKey] else { continue }
            var ratioKey = key
            (ratioKey.metric, ratioKey.ratioTo) = (ratio.rawValue, baselineKey.backend.rawValue)
            let ratios = own.valueOfBlock.compactMap { block, value in
                baseline.valueOfBlock[block].flatMap { $0 > 0 ? (block, value / $0) : nil }
            }.filter(\.1.isFinite)
            series[ratioKey] = Series(
                cellID: own.cellID, runID: own.runID, valueOfBlock: Dictionary(uniqueKeysWithValues: ratios),
                layoutOfBlock: own.layoutOfBlock, isOfBusyMachine: own.isOfBusyMachine)
        }
    }
}

extension SampleRow {
    /// The identity of the row's cell without the ignored parameters. It includes defaults, which `cell_id` leaves out.
    package func cellIdentity(ignoring ignored: Set<String>) -> String {
        ([workload] + parameters.filter { !ignored.contains($0.key) }.map { "\($0.key)=\($0.value)" }.sorted())
            .joined(separator: " ")
    }
}

extension BackendSamples {
    /// Every figure with a direction, one value per block, per operation or round if the metric is counted so.
    ///
    /// Excludes latencies of samples that searched for their rate: each has a different rate. The rate is compared.
    func comparableValues() -> [FigureKey: (ofBlock: [Int: Double], counts: RoundCounts?)] {
        let searched = Set(
            allFigures.lazy.filter { $0.key.metric == Metric.sustainedRate.name }.flatMap { $0.value.map(\.sampleID) })
        var values: [FigureKey: (ofBlock: [Int: Double], counts: RoundCounts?)] = [:]
        for (key, figures) in allFigures {
            guard let metric = Metric.named(key.metric), metric.direction != .neutral else { continue }
            var samples: [Int: (value: Double, divisor: Double)] = [:]
            for figure in figures where !(metric.isOfArrivals && searched.contains(figure.sampleID)) {
                let divisor = divisor(of: figure, per: metric.basis)
                if divisor > 0 { samples[figure.block] = (figure.value, divisor) }
            }
            guard !samples.isEmpty else { continue }
            values[key] = (
                samples.mapValues { $0.value / $0.divisor },
                RoundCounts(metric, samples.sorted { $0.key < $1.key }.map { ($0.value.value, $0.value.divisor) })
            )
        }
        return values
    }
}

/// The backend by whose times the others are divided, in one cell.
///
/// Ratios are taken within an axis. If the baseline is on the other axis, its first form, by name, that was measured on
/// this one replaces it, as `dispatch:notify` replaces `dispatch`. Without such a form the ratio is across the axes,
/// and marked.
struct Denominator {
    private let baseline: BackendID
    private let axis: Axis?
    private let forms: [Axis: BackendID]

    /// - Parameter axes: the axes of the cell's backends.
    init(_ baseline: BackendID, _ axes: [BackendID: Axis]) {
        self.baseline = baseline
        axis = axes[baseline]
        forms = axes.reduce(into: [:]) { forms, entry in
            guard entry.key.rawValue.hasPrefix("\(baseline.rawValue):") else { return }
            let known = forms[entry.value] ?? entry.key
            forms[entry.value] = entry.key.rawValue < known.rawValue ? entry.key : known
        }
    }

    func of(_ axis: Axis?) -> BackendID {
        guard let axis, axis != self.axis else { return baseline }
        return forms[axis] ?? baseline
    }
}
