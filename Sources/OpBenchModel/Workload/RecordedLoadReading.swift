extension RecordedLoad {
    static let allowed = "an object of columns, lists of whole numbers and of texts such as \"0 1200*3\""

    /// Decodes the columns and checks that they make up one load.
    init(_ node: JSONNode) throws(InputErrors) {
        let mistakes = Mistakes()
        let members = try node.object(
            Self.allowed, known: Column.allCases.map(\.rawValue), from: "opbench schema",
            required: Self.requiredColumns.map(\.rawValue), mistakes)
        var columns: [Column: [Int]] = [:]
        for column in Column.allCases {
            columns[column] = mistakes.keep(members[column.rawValue]) { node throws(InputErrors) in
                try column.numbers(from: node)
            }
        }
        try mistakes.check()
        try Self.checkLengths(columns, members)
        self.init(checked: columns)
        try checkReferences(members, in: node)
    }

    /// Columns of one subject come together, except that columns of operations may be left out.
    private static func checkLengths(
        _ columns: [Column: [Int]], _ members: [String: JSONNode]
    ) throws(InputErrors) {
        let mistakes = Mistakes()
        for (column, numbers) in columns.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let others = Column.allCases.filter { $0.subject == column.subject && $0 != column }
            for other in others where columns[other] == nil && column.subject != .operation {
                mistakes.note(
                    members[column.rawValue]!.mistake(
                        "without \(other.rawValue), \(column.rawValue) has no meaning",
                        remedy: "write both or neither"))
            }
            let first = Column.allCases.first { $0.subject == column.subject }!
            if let count = columns[first]?.count, count != numbers.count {
                mistakes.note(
                    members[column.rawValue]!.mistake(
                        "\(counted(numbers.count, "number")), but \(count) in \(first.rawValue)",
                        remedy: "a column has one number for each \(column.subject.rawValue)"))
            }
        }
        try mistakes.check()
    }

    private func checkReferences(_ members: [String: JSONNode], in node: JSONNode) throws(InputErrors) {
        func error(_ column: Column, _ message: String, _ remedy: String) -> InputErrors {
            (members[column.rawValue] ?? node).error(message, remedy: remedy)
        }
        let range = 0..<operationCount
        if let operation = self[.queues].firstIndex(where: { $0 >= limits.count }) {
            throw error(
                .queues, "operation \(operation) is in queue \(self[.queues][operation])",
                "queues are numbered from 0, and limits has \(limits.count)")
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

extension RecordedLoad.Column {
    fileprivate func numbers(from node: JSONNode) throws(InputErrors) -> [Int] {
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

// MARK: - The schema

extension RecordedLoad {
    /// Lengths, numbers in texts, and what numbers refer to are for the decoder alone.
    static var schema: JSONValue {
        let columns = Column.allCases.map { column in
            (
                column.rawValue,
                JSONValue.object(
                    ("type", "array"), ("minItems", .integer(1)), ("maxItems", .integer(column.countLimit)),
                    ("items", .object(("anyOf", .list(column.numberSchema, .reference("packed.numbers"))))))
            )
        }
        return .object(
            ("type", "object"), ("required", .strings(requiredColumns.map(\.rawValue))), JSONSchema.noOtherMembers,
            JSONSchema.comments, ("properties", .members(columns)))
    }

    /// The definition that columns refer to.
    static var packedSchema: (String, JSONValue) {
        (
            "packed.numbers",
            .object(
                ("type", "string"), ("pattern", .string(packedPattern)), ("not", JSONSchema.noControlCharacters))
        )
    }
}

extension RecordedLoad.Column {
    fileprivate var numberSchema: JSONValue {
        if self == .priorities {
            return .object(("enum", JSONValue(.array([-8, -4, 0, 4, 8].map(JSONValue.integer)))))
        }
        return .object(
            ("type", "integer"), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)))
    }
}
