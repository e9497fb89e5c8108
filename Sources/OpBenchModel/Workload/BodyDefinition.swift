/// A body of operations by its name: what it does, and the values that it takes. The decoder, the schema, the cell ids
/// and the help are derived from these.
package struct BodyDefinition: Sendable {
    package let name: String
    /// One line for people.
    package let summary: String
    /// Whole numbers, each with a range and a default.
    package let fields: [ParameterDefinition]
    /// Whether an item waits for something else than a processor.
    var waits = false
    /// A guess of the time that it takes, in nanoseconds, for the estimate of a run's duration. The second argument is
    /// the cell's `work_ns`.
    let guess: @Sendable (BodyChoice, Double) -> Double

    /// The built-in bodies except the mix, in the order of tables.
    package static let builtIn: [BodyDefinition] = [
        .init(
            name: BodyChoice.cpu.name, summary: "Computes for work_ns, calibrated, and touches no memory.", fields: [],
            guess: { $1 }),
        .init(
            name: "memory",
            summary: "Reads one byte of every stride_bytes of footprint_bytes of memory, which all operations share.",
            fields: [
                .bytes("footprint_bytes", 1...1 << 30, 1 << 20, "Memory that an item reads."),
                .bytes("stride_bytes", 1...1 << 30, 64, "Distance of the bytes that it reads."),
            ],
            guess: { body, _ in
                Double(body.integer("footprint_bytes")) / Double(body.integer("stride_bytes")) * touchNanoseconds
            }),
        .init(
            name: "allocate", summary: "Allocates count blocks of size_bytes, writes to each, and frees them.",
            fields: [
                .count("count", 1...100_000, 10, "Blocks that an item holds at once."),
                .bytes("size_bytes", 8...1 << 24, 64, "Size of a block."),
            ],
            guess: { body, _ in Double(body.integer("count")) * allocationNanoseconds }),
        .init(
            name: "sleep", summary: "Sleeps for sleep_ns, and occupies a thread, but no processor.",
            fields: [.nanoseconds("sleep_ns", 1...1_000_000_000, 1_000_000, "The time that an item sleeps.")],
            waits: true,
            guess: { body, _ in Double(body.integer("sleep_ns")) }),
        .init(
            name: "lock",
            summary: "Computes for hold_ns while it holds one of several locks, which items take in turn.",
            fields: [
                .count("locks", 1...1024, 1, "Locks; item n takes lock n modulo locks."),
                .nanoseconds("hold_ns", 0...1_000_000_000, 1000, "CPU work done under the lock, as work_ns."),
            ],
            waits: true,
            guess: { body, _ in Double(body.integer("hold_ns")) }),
        moving("file_read", "Reads bytes of one file, which the kernel has in memory, in pieces of 16 KiB."),
        moving("file_write", "Writes bytes to one file, in pieces of 16 KiB, without waiting for the disk."),
        moving("pipe_read", "Reads bytes from one pipe, which a thread of the suite fills.", waits: true),
        moving("pipe_write", "Writes bytes to one pipe, which a thread of the suite empties.", waits: true),
    ]

    private static func moving(_ name: String, _ summary: String, waits: Bool = false) -> BodyDefinition {
        BodyDefinition(
            name: name, summary: summary, fields: [.bytes("bytes", 1...1 << 28, 4096, "Bytes that an item moves.")],
            waits: waits, guess: { body, _ in callNanoseconds + Double(body.integer("bytes")) * byteNanoseconds })
    }

    /// The one that draws one of several bodies for each item.
    package static let mix = "mix"
    package static let mixSummary =
        "One of several bodies for each item, drawn by weight and seed: a list of objects with weight and body."

    /// All bodies that a part of a mix may name: the built-in ones, and those that the program declares.
    package static var all: [BodyDefinition] { builtIn + DeclaredBodies.all.map { .init(declared: $0.name) } }

    private static let touchNanoseconds = 1.0
    private static let allocationNanoseconds = 50.0
    private static let callNanoseconds = 1000.0
    private static let byteNanoseconds = 0.3
    private static let declaredNanoseconds = 1000.0
}

extension BodyDefinition {
    private init(declared name: String) {
        self.init(
            name: name, summary: "Declared by this program.", fields: [], guess: { _, _ in Self.declaredNanoseconds })
    }

    /// The command that prints all bodies.
    package static let listing = "opbench describe"

    /// Nil if this program has none of that name.
    static func of(_ name: String) -> BodyDefinition? { all.first { $0.name == name } }
}

// MARK: - The bodies of cells

extension BodyChoice {
    /// A value of the body, or its default. Traps if the body has no such value.
    package func integer(_ field: String) -> Int {
        if let value = fields[field] { return value }
        let definition = BodyDefinition.of(name)?.fields.first { $0.name == field }
        guard let value = definition?.defaultValue.integer else {
            preconditionFailure("the body \(name) has no \(field)")
        }
        return value
    }

    /// The parts of a mix, or the body as the only part.
    private var all: [Part] { parts.isEmpty ? [Part(weight: 1, body: self)] : parts }

    /// A guess of an item's mean duration, in nanoseconds.
    ///
    /// - Parameter work: the cell's `work_ns`.
    package func guessedNanoseconds(work: Int) -> Double {
        mean { BodyDefinition.of($0.name)?.guess($0, Double(work)) ?? 0 }
    }

    /// Whether some items wait for something else than a processor.
    var waits: Bool { all.contains { BodyDefinition.of($0.body.name)?.waits ?? false } }

    /// The mean time that an item sleeps, in nanoseconds.
    var sleepNanoseconds: Double { mean { $0.name == "sleep" ? Double($0.integer("sleep_ns")) : 0 } }

    private func mean(_ value: (BodyChoice) -> Double) -> Double {
        let total = all.reduce(0) { $0 + Double($1.weight) }
        return all.reduce(0) { $0 + Double($1.weight) * value($1.body) } / total
    }
}

extension Cell {
    /// The work of an item. Cells of runs before there was a choice compute.
    package var body: BodyChoice {
        parameters["body"]?.content as? BodyChoice ?? .cpu
    }

    /// Why its items cannot have that body, and the remedy; nil if they can.
    var problemOfBody: (what: String, remedy: String)? {
        if let problem = body.problem { return problem }
        let seconds = Double(itemCount) * body.sleepNanoseconds / 1e9
        guard seconds > ShapeDefinition.secondsLimit else { return nil }
        return (
            "its bodies sleep for \(FigureText.write(seconds)) s in all",
            "items × sleep_ns is at most \(FigureText.write(ShapeDefinition.secondsLimit)) s"
        )
    }
}

extension BodyChoice {
    /// Why its values cannot be combined, and the remedy; nil if they can.
    fileprivate var problem: (what: String, remedy: String)? {
        switch name {
        case "memory" where integer("stride_bytes") > integer("footprint_bytes"):
            return ("the stride is longer than the footprint", "write a stride_bytes of at most footprint_bytes")
        case "allocate" where integer("count") * integer("size_bytes") > Self.allocationLimit:
            return ("the blocks are too large together", "count × size_bytes is at most \(Self.allocationLimit)")
        default: return parts.lazy.compactMap(\.body.problem).first
        }
    }

    /// The most memory of an item, in bytes.
    private static let allocationLimit = 1 << 30
}
