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
    /// The zips of a file.
    ///
    /// - Parameters:
    ///   - shape: nil if the file has no valid shape; then zips are not checked.
    ///   - given: the parameters that the file sets elsewhere.
    static func list(of shape: ShapeDefinition?, given: Set<String>) -> Format<[ParameterZip]> {
        let zip = shape.map(format) ?? .any("an object of lists", ["type": "object"], ParameterZip(points: []))
        return zip.list("a list of objects of lists", atMost: countLimit).checked { zips, node throws(InputErrors) in
            let mistakes = Mistakes()
            var taken = given
            for (zip, element) in Swift.zip(zips, try node.elements("")) {
                for name in zip.parameters where !taken.insert(name).inserted {
                    mistakes.note(
                        (element[name] ?? element).mistake(
                            "\(name) is also set elsewhere", remedy: "keep one of the two"))
                }
            }
            try mistakes.check()
            return zips
        }
    }

    private static func format(of shape: ShapeDefinition) -> Format<ParameterZip> {
        let fields: [Field<[Column]>] = shape.parameters.filter(\.takesList).map { parameter in
            let list = parameter.list("a list of values, each \(parameter.format.allowed)")
            return Field(parameter.name, list) { $0.append((parameter.name, $1)) }
        }
        return Format.object("an object of lists", [], fields, from: shape.listing).checked(
            ["description": "Lists of the same length; values may repeat."] + .notEmpty
        ) { columns, node throws(InputErrors) in
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
            let points = (0..<count).map { place in
                Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.values[place]) })
            }
            var placeOfPoint: [[String: ParameterValue]: Int] = [:]
            for (place, point) in points.enumerated() {
                if let first = placeOfPoint.updateValue(place, forKey: point) {
                    throw node.error(
                        "positions \(first) and \(place) give the same cell", remedy: "keep one of the two")
                }
            }
            return ParameterZip(points: points)
        }
    }

    private typealias Column = (name: String, values: [ParameterValue])
}
