extension RecordedLoad {
    private static let allowed = "an object of columns, lists of whole numbers and of texts such as \"0 1200*3\""

    private typealias Parts = (columns: [Column: [Int]], groupNames: [String])

    /// The columns and names, which make up one load.
    fileprivate static var format: Format<RecordedLoad> {
        let columns = Column.allCases.map { column in
            Field<Parts>(column.rawValue, column.format, isRequired: requiredColumns.contains(column)) {
                $0.columns[column] = $1
            }
        }
        let names = Format.sentence("a group's name").list(
            "a list of names", atMost: groupLimit, remedy: "each group has a name of its own", distinct: \.self)
        return Format<Parts>.object(
            allowed, ([:], []), columns + [Field(namesKey, names) { $0.groupNames = $1 }],
            from: "opbench describe workload-schema"
        ).checked { parts, node throws(InputErrors) in
            try checkLengths(parts.columns, node)
            let load = RecordedLoad(checked: parts.columns, groupNames: parts.groupNames)
            try load.checkReferences(node)
            return load
        }
    }

    /// Columns of one subject come together, except that columns of operations may be left out.
    private static func checkLengths(_ columns: [Column: [Int]], _ node: JSONNode) throws(InputErrors) {
        let mistakes = Mistakes()
        for (column, numbers) in columns.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let others = Column.allCases.filter { $0.subject == column.subject && $0 != column }
            for other in others where columns[other] == nil && column.subject != .operation {
                mistakes.note(
                    node[column.rawValue]!.mistake(
                        "without \(other.rawValue), \(column.rawValue) has no meaning",
                        remedy: "write both or neither"))
            }
            let first = Column.allCases.first { $0.subject == column.subject }!
            if let count = columns[first]?.count, count != numbers.count {
                mistakes.note(
                    node[column.rawValue]!.mistake(
                        "\(counted(numbers.count, "number")), but \(count) in \(first.rawValue)",
                        remedy: "a column has one number for each \(column.subject.rawValue)"))
            }
        }
        try mistakes.check()
    }

    private func checkReferences(_ node: JSONNode) throws(InputErrors) {
        func error(_ column: Column, _ message: String, _ remedy: String) -> InputErrors {
            (node[column.rawValue] ?? node).error(message, remedy: remedy)
        }
        let range = 0..<operationCount
        if let operation = self[.queues].firstIndex(where: { $0 >= limits.count }) {
            throw error(
                .queues, "operation \(operation) is in queue \(self[.queues][operation])",
                "queues are numbered from 0, and limits has \(limits.count)")
        }
        if !groupNames.isEmpty, let group = self[.groups].max(), group >= groupNames.count {
            throw (node[Self.namesKey] ?? node).error(
                "group \(group) has no name", remedy: "groups are numbered from 0: name all of them, or none")
        }
        for edge in dependencies {
            guard range.contains(edge.operation), range.contains(edge.predecessor), edge.operation != edge.predecessor
            else {
                throw error(
                    .dependencyDistances, "operation \(edge.operation) depends on operation \(edge.predecessor)",
                    "there are the operations 0 to \(operationCount - 1), and none depends on itself")
            }
        }
        if hasCircle {
            throw error(
                .dependencyDistances, "operations depend on one another in a circle, or twice on the same",
                "leave one of the dependencies out")
        }
        var last = -1
        for (operation, _) in cancellations {
            guard range.contains(operation), operation > last else {
                throw error(
                    .cancellationSteps, "operation \(operation) is cancelled after operation \(last)",
                    "name each at most once, in ascending order, up to \(operationCount - 1)")
            }
            last = operation
        }
    }
}

extension Format<ParameterValue> {
    /// In a cell id, a recording is its digest.
    static var recording: Format { RecordedLoad.format.map { .recording($0) }.shared(as: "recording") }
}

extension ParameterValue {
    package static func recording(_ load: RecordedLoad) -> ParameterValue {
        .init(load, text: load.digest, json: load.json)
    }
}

extension RecordedLoad.Column {
    fileprivate var format: Format<[Int]> {
        let packed: Schema = ["type": "string", "pattern": .string(RecordedLoad.packedPattern)] + .oneLine
        let number: Schema =
            self == .priorities
            ? ["enum": JSONValue(.array([-8, -4, 0, 4, 8].map(JSONValue.integer)))]
            : Format<Int>.integer(range).schema
        return Format(
            "a list of whole numbers, and of texts of them",
            schema: ["type": "array", "minItems": .integer(1), "maxItems": .integer(countLimit)]
                + .keyword("items", [.anyOf(number, packed.named("packed.numbers"))]) { $0[0] }
        ) { node throws(InputErrors) in try numbers(from: node) }
    }

    private func numbers(from node: JSONNode) throws(InputErrors) -> [Int] {
        var numbers: [Int] = []
        for element in try node.elements("a list of whole numbers, and of texts of them") {
            let room = countLimit - numbers.count
            let found: [Int]? =
                switch element.value.content {
                case .number(let number): number.integer.map { [$0] }
                case .string(let text): RecordedLoad.unpacked(text[...], limit: room)
                default: throw element.wrongType(expected: "a whole number or a text of them")
                }
            guard let found, found.count <= room else {
                throw element.error(
                    "neither whole numbers nor runs such as 0*50, or more than \(countLimit) in all",
                    remedy: "write numbers with one space between them")
            }
            if let bad = found.firstIndex(where: { !allows($0) }) {
                throw element.error(
                    "number \(numbers.count + bad) of \(rawValue) is \(found[bad])", remedy: "each is \(allowed)")
            }
            numbers += found
        }
        return numbers
    }
}
