import Foundation

/// The executable products that a package's manifest names, as `swift package dump-package` writes it.
struct PackageExecutables: Decodable {
    private struct Product: Decodable {
        /// An object with one member, named by the kind.
        struct Kind: Decodable {
            let isExecutable: Bool

            private struct Name: CodingKey {
                let stringValue: String
                let intValue: Int? = nil
                init?(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }

            init(from decoder: any Decoder) throws {
                let names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
                isExecutable = names.contains("executable")
            }
        }

        let name: String
        let type: Kind
    }

    private struct Target: Decodable {
        let name: String
        let type: String
    }

    private let products: [Product]
    private let targets: [Target]

    /// The names, with those of undeclared products: SwiftPM makes a product of each executable target.
    var names: Set<String> {
        Set(products.filter(\.type.isExecutable).map(\.name) + targets.filter { $0.type == "executable" }.map(\.name))
    }

    /// Returns nil if the text is no manifest.
    init?(manifest: String) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(manifest.utf8)) else { return nil }
        self = read
    }
}

/// An error: the base has no program that takes samples, so there is nothing to compare with.
public struct NoBaseline: Error, CustomStringConvertible {
    let base: PackageCommit
    let reason: String

    public var description: String { "\(base.words) \(reason), so that there is nothing to compare with" }
}
