extension TracedThreadEvent.Kind {
    /// As a reader sees it on the timeline.
    var words: String {
        switch self {
        case .begin: "thread begins"
        case .end: "thread ends"
        case .park: "park"
        case .unpark: "unpark"
        case .wake: "wake"
        case .leaseTaken: "lease taken"
        case .leaseGivenUp: "lease given up"
        case .growth: "growth"
        case .shrinkage: "shrinkage"
        }
    }
}

/// Names by numbers from 1, as Perfetto's packets refer to them.
struct InternedNames {
    private var names: [String] = []
    private var ids: [String: UInt64] = [:]

    mutating func id(_ name: String) -> UInt64 {
        if let id = ids[name] { return id }
        names.append(name)
        ids[name] = UInt64(names.count)
        return UInt64(names.count)
    }

    func write(_ field: UInt64, to data: inout ProtobufMessage) {
        for (index, name) in names.enumerated() { Self.write(field, UInt64(index) + 1, name, to: &data) }
    }

    static func write(_ field: UInt64, _ id: UInt64, _ name: String, to data: inout ProtobufMessage) {
        data.message(field) { entry in
            entry.number(PerfettoSchema.InternedData.id, id)
            entry.text(PerfettoSchema.InternedData.value, name)
        }
    }
}
