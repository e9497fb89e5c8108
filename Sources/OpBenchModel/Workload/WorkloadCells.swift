extension WorkloadSpec {
    /// The greatest number of cells, in one workload and in one run.
    public static let cellLimit = 100_000

    /// The cells: the product of all lists, in a stable order (parameters in the order of the shape's definition, the
    /// last varying fastest, values in the order of the file).
    public func cells() -> [Cell] {
        let definition = ShapeDefinition.of(shape)
        var points: [[String: ParameterValue]] = [[:]]
        for parameter in definition.parameters {
            guard let values = axes[parameter.name] else { continue }
            points = points.flatMap { point in
                values.map { value in point.merging([parameter.name: value]) { $1 } }
            }
        }
        return points.map { Cell(workload: name, definition: definition, values: $0) }
    }

    /// The number of cells, without making them; nil if an Int does not hold it.
    var cellCount: Int? {
        var product = 1
        for values in axes.values {
            let (next, overflow) = product.multipliedReportingOverflow(by: values.count)
            if overflow { return nil }
            product = next
        }
        return product
    }

    /// What no single value shows: too many cells, and cells whose values do not go together.
    ///
    /// - Parameter line: where the file has the parameters.
    func checkProduct(line: Int? = nil) throws(InputErrors) {
        func error(_ message: String, _ remedy: String) -> InputErrors {
            InputErrors(
                InputError(file: file, line: line, path: "$.parameters", message: message, remedy: remedy))
        }
        guard let count = cellCount, count <= Self.cellLimit else {
            throw error(
                "the lists multiply into \(cellCount.map(String.init) ?? "more than 2^63") cells",
                "at most \(Self.cellLimit) are allowed; shorten the lists or split the file")
        }
        let impossible = cells().compactMap { cell in cell.problem.map { (cell: cell, problem: $0) } }
        guard let (cell, problem) = impossible.first else { return }
        let others = impossible.count == 1 ? "" : " (and so are \(impossible.count - 1) more)"
        throw error("the cell \"\(cell.id)\" is impossible: \(problem.what)\(others)", problem.remedy)
    }
}

extension Cell {
    /// Why the values of the cell do not go together, or nil.
    fileprivate var problem: (what: String, remedy: String)? {
        if operationCount > ShapeDefinition.operationLimit {
            return (
                "it has \(operationCount) operations", "a cell has at most \(ShapeDefinition.operationLimit) operations"
            )
        }
        return ShapeDefinition.of(shape).problem(self)
    }
}
