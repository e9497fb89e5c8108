import OpBenchModel

/// The functions behind a difference between two sides: those that changed significantly and by enough, ranked.
public struct RankedFunctions: Sendable {
    /// A function and its change per operation, including the work that others do for it; see `AttributedWeights`.
    public struct Function: Sendable {
        public var change: Change
        /// The change by class of code, the greatest first: the function's own code, and the code that it called.
        public var parts: [(frameClass: FrameClass, difference: Double)]
    }

    /// The change of all functions together.
    public let total: Change
    /// First the functions that changed in the total's direction, the greatest change first, then the others. Empty if
    /// the total did not change significantly.
    public private(set) var functions: [Function]
    /// The changes by class of code, named by the classes and ranked like the functions.
    public private(set) var classes: [Change]
    /// The least reported change of a function or class.
    let least: Double
    /// The change of the profile's sum.
    private let sampled: Double

    /// The part of the total's change that is in no sample, because no sampler sees all of a switch between threads, or
    /// the profiled samples differ from the others.
    public var unsampled: Double { total.difference - sampled }

    /// The part of the total's change in functions that changed too little, or not beyond chance.
    public var unnamed: Double { sampled - functions.reduce(0) { $0 + $1.change.difference } }

    /// The least share of the total change that is reported.
    static let leastShare = 0.05

    /// Lists all functions and classes that may have changed by enough, for testing; see `keepSure`.
    ///
    /// - Parameters:
    ///   - part: a profile with weights in the total's unit.
    ///   - total: the total, measured without the profile.
    /// - Returns: nil if a sample of either side has no such part.
    init?(
        _ base: [ExplainedSample], _ head: [ExplainedSample], on backends: ExplainedBackends,
        _ part: (ExplainedSample) -> ExplainedSample.Part?, of total: Change, by test: ChanceTest
    ) {
        let (ofBase, ofHead) = (base.compactMap(part), head.compactMap(part))
        guard !ofBase.isEmpty, ofBase.count == base.count, !ofHead.isEmpty, ofHead.count == head.count else {
            return nil
        }
        self.total = total
        sampled = test.shift(ofBase.map(\.totalPerOperation), ofHead.map(\.totalPerOperation)).estimate
        least = max(total.difference.magnitude * Self.leastShare, total.base.magnitude * ChanceTest.leastEffect)
        let weights = AttributedSides(ofBase, ofHead, on: backends)
        functions = weights.functions(from: least, by: test)
        classes = weights.classes(from: least, by: test)
    }

    /// Keeps the functions and classes that changed significantly, with their adjusted probabilities.
    mutating func keepSure(by test: ChanceTest) {
        functions = sure(functions, \.change, by: test)
        classes = sure(classes, \.self, by: test)
    }

    private func sure<Item>(_ items: [Item], _ change: WritableKeyPath<Item, Change>, by test: ChanceTest) -> [Item] {
        guard total.isSure(of: least) else { return [] }
        let sign = total.difference >= 0 ? 1.0 : -1.0
        var items = items
        for (index, tested) in zip(items.indices, test.tested(items.map { $0[keyPath: change] })) {
            items[index][keyPath: change] = tested
        }
        func rank(_ item: Item) -> (Double, String) {
            (-sign * item[keyPath: change].difference, item[keyPath: change].name)
        }
        return items.filter { $0[keyPath: change].isSure(of: least) }.sorted { rank($0) < rank($1) }
    }
}

/// The attributed weights of all profiles of both sides, per operation.
struct AttributedSides {
    private typealias Profile = (weights: AttributedWeights, scale: Double)
    private let base: [Profile]
    private let head: [Profile]
    /// The classes of both sides, in the order of tables.
    private let allClasses: [FrameClass]

    init(_ base: [ExplainedSample.Part], _ head: [ExplainedSample.Part], on backends: ExplainedBackends) {
        func profiles(_ parts: [ExplainedSample.Part], _ backend: BackendID) -> [Profile] {
            parts.map { (AttributedWeights($0.profile, on: backend), 1 / Double(max(1, $0.operations))) }
        }
        self.base = profiles(base, backends.base)
        self.head = profiles(head, backends.head)
        let ofBase = FrameClassifier(backends.base).classes
        allClasses = FrameClassifier(backends.head).classes.filter { !ofBase.contains($0) } + ofBase
    }

    /// Changes by function, in the order of the functions' names.
    ///
    /// - Parameter least: the change that a function must be able to reach.
    func functions(from least: Double, by test: ChanceTest) -> [RankedFunctions.Function] {
        let names = Set((base + head).flatMap(\.weights.functions.keys)).sorted()
        return names.compactMap { name in
            let function = change(name, from: least, by: test) { $0.functions[name]?.total ?? 0 }
            return function.map { function in
                let parts = allClasses.map { frameClass in
                    func values(_ side: [Profile]) -> [Double] {
                        Self.values(side) { $0.functions[name]?.parts[frameClass] ?? 0 }
                    }
                    return (frameClass: frameClass, difference: test.shift(values(base), values(head)).estimate)
                }
                return RankedFunctions.Function(
                    change: function,
                    parts: parts.filter { $0.difference != 0 }.sorted {
                        $0.difference.magnitude > $1.difference.magnitude
                    })
            }
        }
    }

    /// Changes by class of code, in the order of tables.
    ///
    /// - Parameter least: the change that a class must be able to reach.
    func classes(from least: Double, by test: ChanceTest) -> [Change] {
        allClasses.compactMap { frameClass in
            change(frameClass.words, from: least, by: test) { weights in
                weights.functions.values.reduce(0) { $0 + ($1.parts[frameClass] ?? 0) }
            }
        }
    }

    /// The change of a weight; nil if it cannot be large enough.
    private func change(
        _ name: String, from least: Double, by test: ChanceTest, of weight: (AttributedWeights) -> Int64
    ) -> Change? {
        Change(name, base: Self.values(base, weight), head: Self.values(head, weight), from: least, by: test)
    }

    private static func values(_ side: [Profile], _ weight: (AttributedWeights) -> Int64) -> [Double] {
        side.map { Double(weight($0.weights)) * $0.scale }
    }
}

/// A profile's weight by the responsible function: the innermost one of the queue or the workload. Its weight
/// includes the work that the Swift runtime, malloc, the C library and the kernel do for it.
///
/// So an extra allocation is attributed to the allocating function and not to malloc, a lock to its taker, and a
/// wake-up to the waking function; see `FrameClassifier.isAnswerable`. Specializations of a function count as one.
public struct AttributedWeights: Equatable, Sendable {
    public struct Function: Equatable, Sendable {
        /// `SwiftName.whole`, or the name in another language.
        public var name: String
        /// The weights by class of the sampled code.
        public var parts: [FrameClass: Int64] = [:]

        public var total: Int64 { parts.values.reduce(0, +) }
    }

    /// The functions by name.
    public let functions: [String: Function]

    /// The name for weight without such a function on its stack.
    public static let nobody = "no caller in queue or workload"

    public init(_ profile: StackProfile, on backend: BackendID) {
        let classifier = FrameClassifier(backend)
        let classes = profile.frames.map { frame in
            classifier.isPrimitive(SwiftName(frame.name).path) ? .futex : classifier.classify(frame)
        }
        let isAnswerable = profile.frames.map { classifier.isAnswerable($0) }
        let names = profile.frames.map { SwiftName($0.name).whole }
        let weights = profile.selfWeights()
        // The innermost answerable frame at or above each node: parents have lower numbers.
        var answerable = [UInt32?](repeating: nil, count: profile.nodes.count)
        var functions: [String: Function] = [:]
        for (index, node) in profile.nodes.enumerated() where index > 0 {
            answerable[index] = isAnswerable[Int(node.frame)] ? node.frame : answerable[Int(node.parent)]
        }
        for (index, node) in profile.nodes.enumerated() where weights[index] > 0 {
            let name = answerable[index].map { names[Int($0)] } ?? Self.nobody
            let frameClass = index == 0 ? .unknown : classes[Int(node.frame)]
            functions[name, default: Function(name: name)].parts[frameClass, default: 0] += weights[index]
        }
        self.functions = functions
    }
}

/// A test of whether sides differ by more than chance. The caller passes the statistics, which are the same as for
/// verdicts.
public struct ChanceTest: Sendable {
    /// The p-value: the probability of such a difference between equal sides.
    let probability: @Sendable (_ base: [Double], _ head: [Double]) -> Double
    /// The shift from one side to the other, and the interval that contains it.
    let shift: @Sendable (_ base: [Double], _ head: [Double]) -> (estimate: Double, interval: ClosedRange<Double>)
    /// Adjusts p-values for multiple tests.
    let adjusted: @Sendable ([Double]) -> [Double]

    /// The accepted probability of reporting anything of one kind (functions, classes of code, the rest) for two equal
    /// sides.
    static let alpha = 0.01
    /// The part of the base's value below which a difference is not reported.
    static let leastEffect = 0.02

    public init(
        probability: @escaping @Sendable ([Double], [Double]) -> Double,
        shift: @escaping @Sendable ([Double], [Double]) -> (estimate: Double, interval: ClosedRange<Double>),
        adjusted: @escaping @Sendable ([Double]) -> [Double]
    ) {
        (self.probability, self.shift, self.adjusted) = (probability, shift, adjusted)
    }

    /// Changes that are tested together, with their adjusted probabilities.
    func tested(_ changes: [Change]) -> [Change] {
        zip(changes, adjusted(changes.map(\.probability))).map { change, probability in
            var change = change
            change.probability = probability
            return change
        }
    }
}
