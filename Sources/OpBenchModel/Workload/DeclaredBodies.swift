import Synchronization

/// The bodies of operations that a program declares in addition to the built-in ones.
///
/// One list per process, written once, as `DeclaredBackends` is and for the same reasons.
package enum DeclaredBodies {
    /// A body by its name in workload files. `run` gets an item's number; several threads call it at once.
    package struct Declared: Sendable {
        package let name: String
        package let run: @Sendable (Int) -> Void

        package init(_ name: String, run: @escaping @Sendable (Int) -> Void) { (self.name, self.run) = (name, run) }
    }

    private static let list = Mutex<[Declared]>([])

    package static var all: [Declared] { list.withLock { $0 } }

    /// A possible cause of an unknown name.
    static let declaredElsewhere = "a body that a program declares is known to that program alone"

    /// - Throws: `InputError` if a name is malformed or taken; then nothing is declared.
    package static func declare(_ bodies: [Declared]) throws(InputError) {
        var known = BodyDefinition.builtIn.map(\.name) + [BodyDefinition.mix]
        for body in bodies {
            func error(_ message: String, _ remedy: String) -> InputError {
                InputError(file: "OpBenchMain.run(bodies:)", message: message, remedy: remedy)
            }
            let name = JSONText.excerpt(body.name)
            guard isName(body.name) else {
                throw error(
                    "\(name) is not the name of a body",
                    "use 1 to \(nameLimit) of a-z, 0-9, '.', '_' and '-', beginning with a letter")
            }
            if known.contains(body.name) { throw error("the name \(name) is taken", "choose another name") }
            known.append(body.name)
        }
        list.withLock { $0 = bodies }
    }

    private static let nameLimit = 40

    /// Begins with a letter, so that in the text of a mix a number before a colon is a weight.
    static func isName(_ text: String) -> Bool {
        text.utf8.first.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } == true
            && PlainName.isValid(text, atMost: nameLimit)
    }
}
