import OperationEngine
import TestSupport
import Testing

/// An error of a `Press`.
struct Jam: Error, Equatable {
    var sheet: Int
}

/// An object with methods of every kind that an invocation takes. Not `Sendable`, as the objects of the seeds.
class Press: InvocationTarget {
    private(set) var log: [String] = []
    private let released: Counter?

    init(released: Counter? = nil) { self.released = released }
    deinit { released?.add() }

    class var invocationMethods: [String: InvocationMethod] {
        [
            "warmUp": InvocationMethod(Press.warmUp),
            "count": InvocationMethod(Press.count),
            "print:": InvocationMethod(Press.print),
            "isBlank": InvocationMethod(Press.isBlank(text:)),
            "weigh:": InvocationMethod(Press.weigh),
            "jam:": InvocationMethod(Press.jam),
            "rest": InvocationMethod(Press.rest),
            "wrap:": InvocationMethod(Press.wrap),
            "echo:": InvocationMethod(Press.echo),
            "mislabelled:": InvocationMethod(Press.warmUp),
            "two:arguments:": InvocationMethod(Press.print),
        ]
    }

    func warmUp() { log.append("warmUp") }
    func count() -> Int {
        log.append("count")
        return log.count
    }
    func print(_ text: String) -> String {
        log.append("print \(text)")
        return "<\(text)>"
    }
    func isBlank(text: String) -> Bool { text.isEmpty }
    func weigh(_ sheets: Int) -> Double { Double(sheets) * 0.5 }
    func jam(_ sheet: Int) throws -> Int { throw Jam(sheet: sheet) }
    func rest() throws { throw Jam(sheet: 0) }
    func wrap(_ text: String?) -> String? { text.map { "[\($0)]" } }
    func echo(_ object: Any) -> Any { object }
}

/// A subclass that overrides a method, and names one more.
final class FoldingPress: Press {
    override class var invocationMethods: [String: InvocationMethod] {
        super.invocationMethods.merging(["fold:": InvocationMethod(FoldingPress.fold)]) { _, own in own }
    }
    override func print(_ text: String) -> String { "folded " + super.print(text) }
    func fold(_ times: Int) -> Int { 1 << times }
}

/// A value as a target.
struct Stamp: InvocationTarget {
    static let invocationMethods: [String: InvocationMethod] = ["mark:": InvocationMethod(Stamp.mark)]

    let colour: String
    func mark(_ page: Int) -> String { "\(colour) \(page)" }
}

/// A target whose method does not return until it is released.
final class Holder: InvocationTarget, Sendable {
    static let invocationMethods: [String: InvocationMethod] = ["hold": InvocationMethod(Holder.hold)]

    let inside = Gate("the method begins")
    let release = Gate("the method may return")

    func hold() -> Int {
        inside.open()
        release.wait()
        return 7
    }
}
