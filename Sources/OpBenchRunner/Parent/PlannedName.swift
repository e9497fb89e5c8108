/// A sample as `run.json` lists it: `00012-throughput engine block=3 side=base w depth=10`.
struct PlannedName {
    let id: Substring
    let backend: String
    let block: Int
    let cellID: Substring

    init(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 3)
        id = parts.first ?? ""
        backend = parts.count > 1 ? String(parts[1]) : ""
        let number = parts.count > 2 ? Int(parts[2].dropFirst("block=".count)) ?? 0 : 0
        // Any other is none that was planned, and one more than it may be more than there are numbers.
        block = (0..<Int(Int32.max)).contains(number) ? number : 0
        let rest = parts.count > 3 ? parts[3] : ""
        cellID = rest.hasPrefix("side=") ? rest.drop { $0 != " " }.dropFirst() : rest
    }

    /// `throughput`.
    var flavour: Substring { id.split(separator: "-", maxSplits: 1).last ?? "" }

    /// The sample's place in the order of the whole plan.
    var index: Int { Int(id.prefix { $0 != "-" }) ?? 0 }
}
