import OpBenchModel

/// `--set NAME=VALUE[,VALUE…]`, as text: the shape's definition says how a value is read.
enum ParameterSettings {
    static func parse(_ settings: [String]) throws(InputError) -> [String: [ParameterValue]] {
        var values: [String: [ParameterValue]] = [:]
        for setting in settings {
            guard let equals = setting.firstIndex(of: "="), equals != setting.startIndex else {
                throw InputError(
                    file: "--set", message: "\"\(setting)\" is not NAME=VALUE",
                    remedy: "for example --set items=1000, or --set items=1000,10000 for two values")
            }
            let name = String(setting[..<equals])
            guard values[name] == nil else {
                throw InputError(
                    file: "--set", path: name, message: "given twice",
                    remedy: "separate the values by commas: --set \(name)=1,2")
            }
            values[name] = setting[setting.index(after: equals)...]
                .split(separator: ",", omittingEmptySubsequences: false)
                .map { .text(String($0)) }
        }
        return values
    }
}
