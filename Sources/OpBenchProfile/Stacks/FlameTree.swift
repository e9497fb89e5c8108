import OpBenchModel

/// The bars of a flame graph: a tree of functions by name, each with its own weight and the weight including callees.
struct FlameTree {
    struct Bar: Equatable {
        var name: String
        /// The weight including callees; at least the sum of the children's.
        var weight: Double
        /// The weight of its own code.
        var own: Double
        var color: String
        /// The text after the name in the tooltip.
        var detail: String
        var children: [Int] = []
    }

    /// The first is the root; a bar's index is greater than its parent's.
    var bars: [Bar]

    /// The bars of a profile's stacks, in the colours of their classes.
    init(_ profile: StackProfile, classifier: FrameClassifier, operations: Int) {
        let merged = MergedStacks([profile])
        let scale = operations > 0 ? 1 / Double(operations) : 1
        bars = merged.nodes.indices.map { index in
            let node = merged.nodes[index]
            let frameClass = node.frame.map { classifier.classify($0) } ?? .unknown
            let weight = Double(node.totals[0])
            var detail = "\(profile.unit.text(weight)), \(Quantities.percent(weight, of: Double(profile.total)))"
            if operations > 0 { detail += ", \(profile.unit.text(weight * scale)) per operation" }
            if index > 0 { detail += "; \(frameClass.words)" }
            return Bar(
                name: node.frame?.name ?? "all", weight: weight, own: Double(node.owns[0]), color: frameClass.color,
                detail: detail, children: node.children)
        }
    }

    /// The bars of the difference between `base` and `head`: widths are head's weights per operation; red has grown and
    /// blue has shrunk, the deeper the more. Functions that only base has get no bar.
    init(base: StackProfile, baseOperations: Int, head: StackProfile, headOperations: Int) {
        let merged = MergedStacks([base, head])
        let scales = [1 / Double(max(1, baseOperations)), 1 / Double(max(1, headOperations))]
        let values = merged.nodes.map { node in (0..<2).map { Double(node.totals[$0]) * scales[$0] } }
        // The root's own change would be the greatest of all, making the rest pale.
        let greatest = values.dropFirst().reduce(0) { max($0, ($1[1] - $1[0]).magnitude) }
        let unit = head.unit
        var bars: [Bar] = []
        var places = [Int?](repeating: nil, count: merged.nodes.count)
        for (index, node) in merged.nodes.enumerated() where index == 0 || node.totals[1] > 0 {
            let (before, now) = (values[index][0], values[index][1])
            places[index] = bars.count
            let sign = now >= before ? "+" : "−"
            let detail =
                "\(unit.text(before)) → \(unit.text(now)) per operation "
                + "(\(sign)\(unit.text((now - before).magnitude)))"
            bars.append(
                Bar(
                    name: node.frame?.name ?? "all", weight: now, own: Double(node.owns[1]) * scales[1],
                    color: index == 0 ? "#e6e6e6" : Self.color(greatest > 0 ? (now - before) / greatest : 0),
                    detail: detail))
        }
        // A child with weight has a parent with weight.
        for (index, node) in merged.nodes.enumerated() {
            guard let place = places[index] else { continue }
            bars[place].children = node.children.compactMap { places[$0] }
        }
        self.bars = bars
    }

    /// A colour from white to red for 1, or to blue for −1.
    private static func color(_ change: Double) -> String {
        let faded = Int((255 - 155 * min(1, change.magnitude.squareRoot())).rounded())
        let rgb = change >= 0 ? (255, faded, faded) : (faded, faded, 255)
        return "#"
            + [rgb.0, rgb.1, rgb.2].map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }.joined()
    }
}

/// The stacks of several profiles as one tree, merged by function names: two frames with the same name and parent are
/// one, even from two builds or files.
struct MergedStacks {
    struct Node {
        /// The frame in the first profile that has it; nil at the root.
        var frame: StackFrame?
        /// Own weights by profile.
        var owns: [Int64]
        var totals: [Int64]
        /// The children, sorted by name.
        var children: [Int] = []
    }

    private(set) var nodes: [Node]

    init(_ profiles: [StackProfile]) {
        struct Key: Hashable {
            var parent: Int
            var name: String
        }
        let none = [Int64](repeating: 0, count: profiles.count)
        nodes = [Node(frame: nil, owns: none, totals: none)]
        var ids: [Key: Int] = [:]
        for (place, profile) in profiles.enumerated() {
            let (owns, totals) = (profile.selfWeights(), profile.totalWeights())
            var ours = [Int](repeating: 0, count: profile.nodes.count)
            for (index, node) in profile.nodes.enumerated() {
                if index > 0, totals[index] > 0 {
                    let frame = profile.frames[Int(node.frame)]
                    let key = Key(parent: ours[Int(node.parent)], name: frame.name)
                    if let known = ids[key] {
                        ours[index] = known
                    } else {
                        ours[index] = nodes.count
                        ids[key] = nodes.count
                        nodes[key.parent].children.append(nodes.count)
                        nodes.append(Node(frame: frame, owns: none, totals: none))
                    }
                }
                if index == 0 || totals[index] > 0 {
                    nodes[ours[index]].owns[place] += owns[index]
                    nodes[ours[index]].totals[place] += totals[index]
                }
            }
        }
        for index in nodes.indices {
            let sorted = nodes[index].children.sorted { nodes[$0].frame!.name < nodes[$1].frame!.name }
            nodes[index].children = sorted
        }
    }
}
