import OpBenchModel

/// Names for the cells of one workload by their differences; the heading has the common part.
struct CellNames {
    /// The workload's name and the common part of all ids; and the time of the bodies, of which ids leave out the
    /// default: without it, the time of an operation would read as the queue's cost.
    let heading: String
    /// The parameters in which the cells differ; `cell` if they differ otherwise, and none if there is only one cell.
    let columns: [String]
    /// A field for each column, by cell.
    private let fields: [String: [String]]

    /// A cell of a table, with every parameter by name, as text; nil if unknown.
    typealias Named = (id: String, parameters: [String: String]?)

    /// - Parameter cells: at least one.
    init(_ cells: [Named]) {
        let parts = cells.map { $0.id.split(separator: " ") }
        let common = parts.dropFirst().reduce(Set(parts[0])) { $0.intersection($1) }
        heading = (parts[0].filter(common.contains) + Self.defaultWork(of: cells)).joined(separator: " ")
        let byID = Dictionary(cells.map { ($0.id, $0) }) { first, _ in first }
        guard byID.count > 1 else {
            (columns, fields) = ([], [:])
            return
        }
        if let parameters = Self.differingParameters(of: byID) {
            columns = parameters
            fields = byID.mapValues { cell in parameters.map { cell.parameters?[$0] ?? "" } }
        } else {
            let names = byID.mapValues { cell in
                cell.id.split(separator: " ").filter { !common.contains($0) }.joined(separator: " ")
            }
            columns = [Self.cellColumn]
            // In files of other origin, ids may differ only in the order or number of equal words.
            let areUnique = !names.values.contains("") && Set(names.values).count == names.count
            fields = areUnique ? names.mapValues { [$0] } : byID.mapValues { [$0.id] }
        }
    }

    private static let cellColumn = "cell"

    /// The calibrated work of all bodies as `work_ns=100`, if it is not 0 and no id has it.
    private static func defaultWork(of cells: [Named]) -> [Substring] {
        let settings = cells.map { cell in
            cell.parameters.flatMap { $0["body"] == BodyChoice.cpu.name ? $0["work_ns"] : nil }.map { "work_ns=\($0)" }
        }
        guard let setting = settings[0], setting != "work_ns=0", settings.allSatisfy({ $0 == setting }),
            !cells[0].id.split(separator: " ").contains(Substring(setting))
        else { return [] }
        return [Substring(setting)]
    }

    /// Nil if the cells' parameters are unknown, or do not distinguish them.
    private static func differingParameters(of cells: [String: Named]) -> [String]? {
        let parameters = cells.values.compactMap(\.parameters)
        guard parameters.count == cells.count else { return nil }
        let names = Set(parameters.flatMap(\.keys)).sorted().filter { name in
            Set(parameters.map { $0[name] }).count > 1
        }
        let areUnique = Set(parameters.map { parameters in names.map { parameters[$0] } }).count == cells.count
        return areUnique ? names : nil
    }

    /// The cell's field for each column.
    func fields(of id: String) -> [String] { fields[id] ?? columns.map { _ in id } }

    /// The fewest parameters that no other cell has like this one: `submission=refill`. With many cells, all of `name`.
    func shortName(of id: String) -> String {
        guard columns != [Self.cellColumn], columns.count <= 8, fields.count <= 1000 else { return name(of: id) }
        let own = fields(of: id)
        let others = fields.filter { $0.key != id }.values
        func pick(_ set: Int) -> [Int] { columns.indices.filter { set >> $0 & 1 == 1 } }
        let sets = (0..<1 << columns.count).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
        let least = sets.first { set in
            let chosen = pick(set)
            return others.allSatisfy { other in chosen.contains { other[$0] != own[$0] } }
        }
        return least.map { pick($0).map { "\(columns[$0])=\(own[$0])" }.joined(separator: " ") } ?? name(of: id)
    }

    /// The difference between the cell and the others; empty if there are no others.
    func name(of id: String) -> String {
        let fields = fields(of: id)
        guard columns != [Self.cellColumn] else { return fields[0] }
        return zip(columns, fields).map { "\($0)=\($1)" }.joined(separator: " ")
    }
}
