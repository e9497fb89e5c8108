/// Parameters whose values are combined by position: the first with the first, the second with the second. A zip is one
/// factor in the product of a workload's lists.
public struct ParameterZip: Sendable, Hashable {
    /// The values at each position, by parameter; all positions differ.
    public private(set) var points: [[String: ParameterValue]]

    /// The most zips that a workload may have.
    static let countLimit = 100

    /// The values of one parameter, in order of position.
    func values(of parameter: String) -> [ParameterValue] { points.compactMap { $0[parameter] } }

    /// The parameters of the zip, sorted.
    var parameters: [String] { points.first.map { $0.keys.sorted() } ?? [] }

    /// The zip as written in a file.
    var json: JSONValue {
        .members(parameters.map { ($0, JSONValue(.array(values(of: $0).map(\.json)))) })
    }

    /// The zip without a parameter: each remaining point once.
    func without(_ parameter: String) -> ParameterZip {
        var seen: Set<[String: ParameterValue]> = []
        var rest = self
        rest.points = points.map { $0.filter { $0.key != parameter } }.filter { seen.insert($0).inserted }
        return rest
    }
}

extension ParameterZip {
    /// Decodes the zips of a file.
    ///
    /// - Parameter given: the parameters that the file sets elsewhere.
    static func list(
        in node: JSONNode, of definition: ShapeDefinition, given: Set<String>, _ names: BackendNames
    ) throws(InputErrors) -> [ParameterZip] {
        let elements = try node.elements("a list of objects of lists")
        guard elements.count <= countLimit else {
            throw node.error("\(elements.count) zips", remedy: "at most \(countLimit) are allowed")
        }
        let mistakes = Mistakes()
        var taken = given
        var zips: [ParameterZip] = []
        for element in elements {
            let zip = mistakes.keep { () throws(InputErrors) in
                try ParameterZip(element, of: definition, taken: taken, names)
            }
            guard let zip else { continue }
            taken.formUnion(zip.parameters)
            zips.append(zip)
        }
        try mistakes.check()
        return zips
    }

    private init(
        _ node: JSONNode, of definition: ShapeDefinition, taken: Set<String>, _ names: BackendNames
    ) throws(InputErrors) {
        let mistakes = Mistakes()
        let known = definition.parameters.filter(\.takesList)
        let members = try node.object(
            "an object of lists", known: known.map(\.name), from: definition.listing, mistakes)
        var columns: [(name: String, values: [ParameterValue])] = []
        for parameter in known {
            guard let list = members[parameter.name] else { continue }
            if taken.contains(parameter.name) {
                mistakes.note(list.mistake("\(parameter.name) is also set elsewhere", remedy: "keep one of the two"))
            }
            let values = mistakes.keep { () throws(InputErrors) in try parameter.zippedValues(from: list, names) }
            columns.append((parameter.name, values ?? []))
        }
        try mistakes.check()
        guard columns.count >= 2 else {
            throw node.error(
                "a zip has at least two lists", remedy: "name two parameters, or write it under parameters")
        }
        let count = columns[0].values.count
        if let other = columns.first(where: { $0.values.count != count }) {
            throw node.error(
                "\(columns[0].name) has \(counted(count, "value")), \(other.name) \(other.values.count)",
                remedy: "give the lists of a zip the same length")
        }
        points = (0..<count).map { place in
            Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.values[place]) })
        }
        var placeOfPoint: [[String: ParameterValue]: Int] = [:]
        for (place, point) in points.enumerated() {
            if let first = placeOfPoint.updateValue(place, forKey: point) {
                throw node.error("positions \(first) and \(place) give the same cell", remedy: "keep one of the two")
            }
        }
    }
}

extension ParameterDefinition {
    /// Decodes the values of a zip's list, which may repeat.
    fileprivate func zippedValues(
        from node: JSONNode, _ names: BackendNames
    ) throws(InputErrors) -> [ParameterValue] {
        let elements = try node.elements("a list of values, each \(allowed)")
        guard elements.count <= WorkloadSpec.cellLimit else {
            throw node.error(
                "the list has \(elements.count) values",
                remedy: "a workload has at most \(WorkloadSpec.cellLimit) cells; shorten the list")
        }
        let mistakes = Mistakes()
        var values: [ParameterValue] = []
        for element in elements {
            if let value = mistakes.keep({ () throws(InputErrors) in try self.value(from: element, names) }) {
                values.append(value)
            }
        }
        try mistakes.check()
        return values
    }
}
