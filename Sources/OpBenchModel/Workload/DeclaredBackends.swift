import Synchronization

/// The backends that a program declares in addition to the built-in ones.
///
/// One list per process: the argument parser makes the commands, and decoders read files, where no value can be passed.
/// `main` writes it once, before it parses anything and before there is another thread; then it is only read.
package enum DeclaredBackends {
    private static let list = Mutex<[BackendDefinition]>([])

    package static var definitions: [BackendDefinition] { list.withLock { $0 } }

    /// - Throws: `InputError` if a name is malformed or taken; then nothing is declared.
    package static func declare(_ definitions: [BackendDefinition]) throws(InputError) {
        var known = BackendDefinition.builtIn.map(\.id)
        for definition in definitions {
            try check(definition.id, known: known)
            known.append(definition.id)
        }
        list.withLock { $0 = definitions }
    }

    private static func check(_ id: BackendID, known: [BackendID]) throws(InputError) {
        func error(_ message: String, _ remedy: String) -> InputError {
            InputError(file: "OpBenchMain.run(backends:)", message: message, remedy: remedy)
        }
        let name = JSONText.excerpt(id.rawValue)
        guard id.isWellFormed else { throw error("\(name) is not a backend name", BackendID.allowed) }
        if known.contains(id) {
            let owner = BackendDefinition.builtIn.contains { $0.id == id } ? "used by a built-in backend" : "taken"
            throw error("the name \(name) is \(owner)", "choose another name")
        }
        if let family = BackendDefinition.builtIn.first(where: { $0.id.family == id.family })?.id.family {
            throw error(
                "the name \(name) is a form of the built-in backend \(family)",
                "choose another name before the colon; later versions may have more forms of \(family)")
        }
    }
}

extension BackendID {
    /// The allowed names of backends, in words.
    package static let allowed =
        "use 1 to 40 of a-z, 0-9, '.', '_' and '-', beginning with a letter; a form of a backend has one colon between two "
        + "such names"

    /// Whether the name is valid in command-line lists, in files and in paths.
    package var isWellFormed: Bool {
        let parts = rawValue.split(separator: ":", omittingEmptySubsequences: false)
        return rawValue.utf8.count <= 40 && parts.count <= 2
            && parts.allSatisfy { DeclaredBodies.isName(String($0)) }
    }

    /// The name up to the colon, if it has one.
    package var family: String { String(rawValue.prefix { $0 != ":" }) }

    /// Whether it is Dispatch, or one of its forms.
    package var isDispatch: Bool { family == Self.dispatch.family }

    /// Whether it names a form of a backend.
    package var isForm: Bool { rawValue.contains(":") }
}
