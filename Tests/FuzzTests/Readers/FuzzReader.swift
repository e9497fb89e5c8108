import OpBenchModel

/// A reader of files, and its promises for any bytes at all: it accepts them or rejects them, by an error of the
/// project that names a place; what it accepts and writes again reads as the same. Its callers also check that it does
/// not trap, ends soon and takes little memory.
///
/// `scripts/fuzz` runs readers under libFuzzer, `CorpusTests` over the files in `Corpus`.
struct FuzzReader: Sendable {
    let name: String
    /// The form of inputs, for the code that changes them.
    var form = Form.bytes
    /// The longest input that libFuzzer is to try, in bytes.
    var lengthLimit = 4096
    /// Words with a meaning for the reader, for libFuzzer's dictionary.
    let words: @Sendable () -> [String]
    /// Inputs that are made rather than kept in files.
    var seeds: @Sendable () throws -> [[UInt8]] = { [] }
    let read: @Sendable ([UInt8]) throws -> Void

    static let all = [workload, policy, csv, description, merge, history, recording]

    static func named(_ name: String) -> FuzzReader? { all.first { $0.name == name } }

    enum Form {
        case bytes, json
        /// CSV behind two bytes.
        case rows
    }

    enum Outcome: Equatable {
        case taken, refused
        /// A promise was broken: which one.
        case broken(String)
    }

    func outcome(of bytes: [UInt8]) -> Outcome {
        do {
            try read(bytes)
            return .taken
        } catch let error as InputError {
            return refusal([error], of: bytes)
        } catch let mistakes as InputErrors {
            return mistakes.errors.isEmpty ? .broken("a refusal without a reason") : refusal(mistakes.errors, of: bytes)
        } catch let broken as BrokenPromise {
            return .broken(broken.what)
        } catch {
            return isExpected(error) ? .refused : .broken("an error from outside the project: \(error)")
        }
    }

    /// Which errors beside bad input the reader may throw.
    var isExpected: @Sendable (any Error) -> Bool = { _ in false }

    /// Whether a refusal may be of a file as a whole, and name no place in it; of an empty file it always may.
    var refusesWholeFiles = false
    /// The longest message: it quotes a part of the input, never all of it.
    private static let messageLimit = 8000

    private func refusal(_ errors: [InputError], of bytes: [UInt8]) -> Outcome {
        for error in errors {
            if error.message.isEmpty || error.remedy.isEmpty || error.file.isEmpty {
                return .broken("a refusal that does not say what is wrong or what to do: \(error)")
            }
            let hasPlace = error.line != nil || !error.path.isEmpty || refusesWholeFiles || bytes.count <= 2
            if !hasPlace { return .broken("a refusal without a place: \(error)") }
            if error.description.utf8.count > Self.messageLimit { return .broken("a long refusal: \(error)") }
        }
        return .refused
    }
}

/// A promise that a reader broke.
struct BrokenPromise: Error {
    let what: String
}

/// Holds that a promise was kept.
func promise(_ isKept: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String) throws {
    if try !isKept() { throw BrokenPromise(what: what()) }
}

/// Reads what was written. To be refused here is a broken promise, and no mistake in the input.
func again<Value>(_ what: String, _ reading: () throws -> Value) throws -> Value {
    do { return try reading() } catch {
        throw BrokenPromise(what: "\(what) is refused after it was written: \(error)")
    }
}
