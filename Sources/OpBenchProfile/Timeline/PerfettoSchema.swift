import OpBenchModel

/// The field numbers of the Perfetto messages used here. They are those of `perfetto_trace.proto`, as published in the
/// descriptors of PyPI's package `perfetto` (0.59.1); scripts/tests/test_profile_formats.py uses the descriptors to
/// read files back.
enum PerfettoSchema {
    enum Trace { static let packet: UInt64 = 1 }

    enum TracePacket {
        static let clockSnapshot: UInt64 = 6
        static let timestamp: UInt64 = 8
        static let sequence: UInt64 = 10
        static let trackEvent: UInt64 = 11
        static let internedData: UInt64 = 12
        static let sequenceFlags: UInt64 = 13
        static let defaults: UInt64 = 59
        static let trackDescriptor: UInt64 = 60
        static let firstOnSequence: UInt64 = 87
    }

    /// The effect of a packet on a sequence's interned names.
    enum SequenceFlags {
        static let incrementalStateCleared: UInt64 = 1
        static let needsIncrementalState: UInt64 = 2
    }

    enum PacketDefaults { static let clock: UInt64 = 58 }

    enum ClockSnapshot {
        static let clocks: UInt64 = 1
        static let primaryClock: UInt64 = 2
        enum Clock {
            static let id: UInt64 = 1
            static let timestamp: UInt64 = 2
        }
        /// The clock that readers do not convert. Ours has its zero at the start mark, and agrees with no other.
        static let bootTime: UInt64 = 6
    }

    enum TrackDescriptor {
        static let uuid: UInt64 = 1
        static let name: UInt64 = 2
        static let process: UInt64 = 3
        static let thread: UInt64 = 4
        static let parent: UInt64 = 5
        static let counter: UInt64 = 8
    }

    enum Process {
        static let id: UInt64 = 1
        static let name: UInt64 = 6
    }

    enum Thread {
        static let process: UInt64 = 1
        static let id: UInt64 = 2
        static let name: UInt64 = 5
    }

    enum Counter {
        static let unit: UInt64 = 3
        static let count: UInt64 = 2
    }

    enum TrackEvent {
        static let categories: UInt64 = 3
        static let annotations: UInt64 = 4
        static let type: UInt64 = 9
        static let name: UInt64 = 10
        static let track: UInt64 = 11
        static let counterValue: UInt64 = 30
        static let flows: UInt64 = 47
        static let endingFlows: UInt64 = 48

        static let begin: UInt64 = 1
        static let end: UInt64 = 2
        static let instant: UInt64 = 3
        static let counter: UInt64 = 4
    }

    enum InternedData {
        static let categories: UInt64 = 1
        static let names: UInt64 = 2
        static let annotationNames: UInt64 = 3
        static let texts: UInt64 = 29
        /// Fields of an interned name or text.
        static let id: UInt64 = 1
        static let value: UInt64 = 2
    }

    enum Annotation {
        static let name: UInt64 = 1
        static let number: UInt64 = 3
        static let signed: UInt64 = 4
        static let text: UInt64 = 17
    }
}

extension ThreadStep {
    /// The name on the timeline.
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

/// Names with numbers from 1, for references in Perfetto's packets.
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
