/// Rows as JSON: an array of objects whose members are the columns of the CSV file, in their order.
public enum RowJSON {
    /// - Returns: the whole text. An absent figure or parameter is null; a parameter that is a number is one, if it is
    ///   written as JSON writes numbers: not as `+1`, `.5` or `007`.
    public static func text<Row: CSVRow>(of rows: [Row]) -> String {
        let parameters = Row.hasParameters ? CSVFile.parameterNames(of: rows) : []
        return JSONText.write(JSONValue(.array(rows.map { object($0, parameters: parameters) })))
    }

    private static func object<Row: CSVRow>(_ row: Row, parameters: [String]) -> JSONValue {
        let columns = Row.columnList.map { column in
            member(column.name, column.isNumber ? number(column.write(row)) : .string(column.write(row)))
        }
        let values = parameters.map { name in
            member(CSVFile.parameterPrefix + name, row.parameters[name].map(parameter) ?? .null)
        }
        return JSONValue(.object(columns + values))
    }

    private static func member(_ name: String, _ content: JSONValue.Content) -> JSONValue.Member {
        .init(name: name, line: 0, value: JSONValue(content))
    }

    private static func number(_ text: String) -> JSONValue.Content {
        text.isEmpty ? .null : .number(JSONNumber(text: text))
    }

    private static func parameter(_ text: String) -> JSONValue.Content {
        guard FigureText.read(text) != nil, case .number = (try? JSONParser.parse(text, file: ""))?.value.content else {
            return .string(text)
        }
        return number(text)
    }
}
