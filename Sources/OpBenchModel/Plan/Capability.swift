/// What a shape asks of a backend: the key under which a backend keeps its way of executing such plans. Shapes that every
/// backend executes alike share one; a shape that nobody could execute before declares its own in its file.
package struct Capability: Sendable, Hashable {
    package let name: String

    package init(_ name: String) { self.name = name }
}
