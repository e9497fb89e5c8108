import OpBenchModel

/// Names for the cells of one workload by their differences; the heading has the common part.
struct CellNames {
    /// The workload's name and the common part of all ids.
    let heading: String
    private let names: [String: String]

    /// A cell of a table.
    struct Named {
        let id: String
        /// Every parameter by name, as text; nil if unknown.
        let parameters: [String: String]?
    }

    /// - Parameter cells: at least one.
    init(_ cells: [Named]) {
        let parts = cells.map { $0.id.split(separator: " ") }
        let common = parts.dropFirst().reduce(Set(parts[0])) { $0.intersection($1) }
        heading = parts[0].filter(common.contains).joined(separator: " ")
        let byID = Dictionary(cells.map { ($0.id, $0) }) { first, _ in first }
        guard byID.count > 1 else {
            names = byID.mapValues { _ in "" }
            return
        }
        let names = Self.names(of: byID, common)
        // In files of other origin, ids may differ in more than their parameters.
        let areDistinct = !names.values.contains("") && Set(names.values).count == names.count
        self.names = areDistinct ? names : byID.mapValues(\.id)
    }

    private static func names(of cells: [String: Named], _ common: Set<Substring>) -> [String: String] {
        let parameters = cells.values.map(\.parameters)
        guard parameters.allSatisfy({ $0 != nil }) else {
            return cells.mapValues { cell in
                cell.id.split(separator: " ").filter { !common.contains($0) }.joined(separator: " ")
            }
        }
        let varying = Set(parameters.flatMap { $0!.keys }).sorted().filter { name in
            Set(parameters.map { $0![name] }).count > 1
        }
        return cells.mapValues { cell in
            varying.map { "\($0)=\(cell.parameters?[$0] ?? "")" }.joined(separator: " ")
        }
    }

    /// The difference between the cell and the others; empty if there are no others.
    func name(of id: String) -> String { names[id] ?? id }
}
