import Foundation

/// All mutations of a file in one text: each a switch between the new part and the old one, so that one build serves
/// for all of them.
struct Schemata {
    private let source: String
    private var placed: [(range: Range<String.Index>, mutation: Mutation, number: Int)] = []

    init(source: String) { self.source = source }

    /// Adds a mutation at its place. Fails unless the old text occurs exactly once.
    mutating func place(_ mutation: Mutation, number: Int) throws {
        let plain = mutation.old.replacing("«", with: "").replacing("»", with: "")
        let found = source.ranges(of: plain)
        guard found.count == 1 else {
            throw MutationReader.Mistake(
                description: "\(mutation.name): its old text occurs \(found.count) times in \(mutation.file), not once")
        }
        var range = found[0]
        if let open = mutation.old.range(of: "«"), let close = mutation.old.range(of: "»") {
            let before = mutation.old[..<open.lowerBound].count
            let length = mutation.old[open.upperBound..<close.lowerBound].count
            let start = source.index(range.lowerBound, offsetBy: before)
            range = start..<source.index(start, offsetBy: length)
        }
        for other in placed where other.range.overlaps(range) {
            let isNested = other.range.contains(range) || range.contains(other.range)
            guard isNested else {
                throw MutationReader.Mistake(description: "\(mutation.name) overlaps \(other.mutation.name)")
            }
        }
        placed.append((range, mutation, number))
    }

    func rendered() -> String { render(source.startIndex..<source.endIndex, placed) }

    private func render(
        _ whole: Range<String.Index>, _ inside: [(range: Range<String.Index>, mutation: Mutation, number: Int)]
    ) -> String {
        var text = ""
        var place = whole.lowerBound
        // The outermost first, from left to right.
        var rest = inside.sorted {
            ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
        }
        while let first = rest.first {
            let here = rest.filter { $0.range == first.range }
            let within = rest.filter { $0.range != first.range && first.range.contains($0.range) }
            rest.removeAll { first.range.contains($0.range) }
            text += source[place..<first.range.lowerBound]
            text += switches(here.map { ($0.mutation, $0.number) }[...], otherwise: render(first.range, within))
            place = first.range.upperBound
        }
        return text + source[place..<whole.upperBound]
    }

    private func switches(_ mutations: ArraySlice<(Mutation, Int)>, otherwise old: String) -> String {
        guard let (mutation, number) = mutations.first else { return old }
        let rest = switches(mutations.dropFirst(), otherwise: old)
        switch mutation.form {
        case .statements: return "if MutationSwitch.isOn(\(number)) {\n\(mutation.new)\n} else {\n\(rest)\n}"
        case .expression: return "(MutationSwitch.isOn(\(number)) ? (\(mutation.new)) : (\(rest)))"
        }
    }

    /// The switch itself, a file of the mutated module.
    static let switchSource = """
        import Glibc

        enum MutationSwitch {
            private static let active = getenv("OPERATION_ENGINE_MUTATION").flatMap { Int(String(cString: $0)) } ?? -1
            @inline(never) static func isOn(_ number: Int) -> Bool { active == number }
        }

        """
}

extension Range {
    fileprivate func contains(_ other: Range) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
