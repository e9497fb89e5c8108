/// A workload file, decoded and fully validated.
public struct WorkloadSpec: Sendable {
    /// The path as the user gave it.
    public var file: String
    /// The file's bytes as read, and their SHA-256 in hexadecimal.
    public var text: String
    public var sha256: String
    public var name: String
    public var summary: String
    public var shape: Shape
    /// The values of each parameter that the file sets, in the file's order.
    public var axes: [String: [ParameterValue]]
    /// The zipped parameters, which are not among the axes.
    public var zips: [ParameterZip]
    /// The product of all lists in a stable order, or a selection of it. Expanded when the lists are checked.
    public var cells: [Cell] = []
    public var backends: [BackendID]
    public var sampleKinds: Set<SampleKind>
    public var skips: [CellRule]
    public var expectations: [CellRule]
    /// Words for cells, for the sentence that answers the workload's question.
    public var answer: [CellRule] = []
}

extension WorkloadSpec {
    /// The largest total size of cell ids in bytes, in one workload and in one run.
    static let idLimit = 64 << 20

    /// The cells: the product of all lists, in a stable order. Parameters come in the order of the shape's definition,
    /// then the zips; the last one varies fastest, and values keep the order of the file.
    private func expanded() -> [Cell] {
        let definition = ShapeDefinition.of(shape)
        var points: [[String: ParameterValue]] = [[:]]
        for parameter in definition.parameters {
            guard let values = axes[parameter.name] else { continue }
            points = points.flatMap { point in
                values.map { value in point.merging([parameter.name: value]) { $1 } }
            }
        }
        for zip in zips { points = points.flatMap { point in zip.points.map { point.merging($0) { $1 } } } }
        return points.map { Cell(workload: name, definition: definition, values: $0) }
    }

    /// The number of cells, computed without making them; nil beyond Int.
    var cellCount: Int? {
        var product = 1
        for count in axes.values.map(\.count) + zips.map(\.points.count) {
            let (next, overflow) = product.multipliedReportingOverflow(by: count)
            if overflow { return nil }
            product = next
        }
        return product
    }

    /// The size of the product, computed without making the cells.
    struct Extent {
        var cells = 0
        /// An upper bound of the size of all ids, in bytes.
        var idBytes = 0

        /// Whether the size exceeds the limits of a run.
        var isTooMuch: Bool { cells > Cell.countLimit || idBytes > WorkloadSpec.idLimit }

        static func + (left: Extent, right: Extent) -> Extent {
            var sum = left
            sum.cells.addClamped(right.cells)
            sum.idBytes.addClamped(right.idBytes)
            return sum
        }
    }

    var extent: Extent {
        guard let count = cellCount, count <= Cell.countLimit else { return Extent(cells: .max, idBytes: .max) }
        var longest = name.utf8.count
        let zipped = zips.flatMap { zip in zip.parameters.map { ($0, zip.values(of: $0)) } }
        for (name, values) in axes.map({ ($0.key, $0.value) }) + zipped {
            longest += name.utf8.count + 2 + (values.map { $0.description.utf8.count }.max() ?? 0)
        }
        // These texts come from a file, so they are far below 2^40 bytes.
        return Extent(cells: count, idBytes: count * longest)
    }

    /// Expands the lists into cells, after checks that need several values: too many cells, and values that cannot be
    /// combined in a cell.
    ///
    /// - Parameter line: the line of the parameters in the file.
    mutating func expandCells(line: Int? = nil) throws(InputErrors) {
        func error(_ message: String, _ remedy: String) -> InputErrors {
            InputErrors(
                InputError(file: file, line: line, path: "$.parameters", message: message, remedy: remedy))
        }
        guard let count = cellCount, count <= Cell.countLimit else {
            throw error(
                "the lists multiply into \(cellCount.map(String.init) ?? "more than 2^63") cells",
                "at most \(Cell.countLimit) are allowed; shorten the lists or split the file")
        }
        let extent = extent
        guard extent.idBytes <= Self.idLimit else {
            throw error(
                "the names of the \(count) cells take \(extent.idBytes >> 20) MiB",
                "at most \(Self.idLimit >> 20) are allowed; shorten the lists or the mixes")
        }
        cells = expanded()
        let impossible = cells.compactMap { cell in cell.problem.map { (cell: cell, problem: $0) } }
        guard let (cell, problem) = impossible.first else { return }
        let others = impossible.count == 1 ? "" : " (and so are \(impossible.count - 1) more)"
        throw error("the cell \"\(cell.id)\" is impossible: \(problem.what)\(others)", problem.remedy)
    }
}

extension Cell {
    /// Why the cell's values cannot be combined, or nil.
    fileprivate var problem: (what: String, remedy: String)? {
        if operationCount > ShapeDefinition.operationLimit {
            return (
                "it has \(operationCount) operations", "a cell has at most \(ShapeDefinition.operationLimit) operations"
            )
        }
        return problemOfBody ?? ShapeDefinition.of(shape).problem(self)
    }
}

extension FixedWidthInteger {
    /// The sum, saturated at the bounds of the type: a file may give any numbers.
    @inlinable
    package mutating func addClamped(_ other: Self) {
        let (sum, overflow) = addingReportingOverflow(other)
        self = overflow ? (other < 0 ? .min : .max) : sum
    }
}

// MARK: - Rules

extension WorkloadSpec {
    /// The first rule that skips the cell on a backend, or nil.
    public func skipRule(for backend: BackendID, in cell: Cell) -> CellRule? {
        skips.first { $0.applies(to: backend, in: cell) }
    }

    /// The first expectation that excuses a sample's status, or nil.
    public func expectation(of status: SampleStatus, for backend: BackendID, in cell: Cell) -> CellRule? {
        expectations.first {
            $0.status == status && $0.applies(to: backend, in: cell)
        }
    }

    /// Warnings about rules without effect: a skip or an expectation that matches no cell of the workload, or a backend
    /// that the workload does not list.
    public func warnings() -> [String] {
        let cells = cells
        func warnings(_ key: String, _ rules: [CellRule]) -> [String] {
            rules.enumerated().compactMap { index, rule in
                let place = "\(file): $.\(key)[\(index)]"
                if let absent = rule.backends.first(where: { !backends.contains($0) }) {
                    return "\(place) matches nothing: \(absent.rawValue) is not among the backends"
                }
                return cells.contains { rule.applies(to: $0) }
                    ? nil : "\(place) matches nothing: no cell meets its `when`"
            }
        }
        return warnings("skip", skips) + warnings("expect", expectations) + warnings("answer", answer)
    }

    /// The words for cells, by cell id.
    public var cellWords: [String: String] {
        let named = cells.compactMap { cell in answer.first { $0.applies(to: cell) }.map { (cell.id, $0.reason) } }
        return Dictionary(named) { first, _ in first }
    }
}
