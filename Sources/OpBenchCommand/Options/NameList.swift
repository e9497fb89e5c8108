import OpBenchModel
import OpBenchProfile

/// Names separated by commas, as `--backend` and `--metric` take them.
enum NameList {
    static func backends(_ list: String) throws(InputError) -> [BackendID] {
        let known = BackendID.known
        return try names(list, option: "--backend", what: "backend", known: known.map(\.rawValue))
            .map(BackendID.init(rawValue:))
    }

    static func kinds(_ list: String) throws(InputError) -> Set<SampleKind> {
        let names = try names(
            list, option: "--metric", what: "metric", known: SampleKind.allCases.map(\.rawValue))
        return Set(names.compactMap(SampleKind.init(rawValue:)))
    }

    static func profileKinds(_ list: String) throws(InputError) -> [ProfileKind] {
        let names = try names(
            list, option: "--kind", what: "kind of profile", known: ProfileKind.allCases.map(\.rawValue))
        return ProfileKind.allCases.filter { names.contains($0.rawValue) }
    }

    private static func names(
        _ list: String, option: String, what: String, known: [String]
    ) throws(InputError) -> [String] {
        try names(list, option: option, known: known) { "unknown \(what) \"\($0)\"" }
    }

    /// The names, each once.
    ///
    /// - Parameter message: what to tell of a name that is not known.
    static func names(
        _ list: String, option: String, known: [String], message: (String) -> String
    ) throws(InputError) -> [String] {
        var names: [String] = []
        for part in list.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(part)
            guard known.contains(name) else {
                throw InputError(
                    file: option, message: message(name), remedy: Suggestion.remedy(for: name, among: known))
            }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}
