/// A profile's weight by the function that is answerable for it: the innermost one of the library under test or of the
/// workload. What that had the Swift runtime, malloc, the C library and the kernel do is its own doing.
///
/// So an extra allocation stands at the function that allocates and not at malloc, a lock at who takes it, and a wake-up at
/// who wakes; see `FrameClassifier.isAnswerable`. A function that was compiled several times, for some types or arguments,
/// is one.
public struct AttributedWeights: Equatable, Sendable {
    public struct Function: Equatable, Sendable {
        /// `SwiftName.whole`, or what another language calls it.
        public var name: String
        /// By the class of the code that was sampled itself.
        public var parts: [FrameClass: Int64] = [:]

        public var total: Int64 { parts.values.reduce(0, +) }
    }

    /// By name.
    public let functions: [String: Function]

    /// The name under which stands what has no such function on its stack.
    public static let nobody = "no caller in engine or workload"

    public init(_ profile: StackProfile, classifier: FrameClassifier = FrameClassifier()) {
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
