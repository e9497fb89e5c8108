/// The neighbours of an object in its `LinkedList`. Guarded as the list is.
struct ListLinks<Node: AnyObject> {
    fileprivate(set) var previous: Unmanaged<Node>?
    fileprivate(set) var next: Unmanaged<Node>?
}

/// An object that may be in one list at a time.
protocol Linked: AnyObject {
    var links: ListLinks<Self> { get set }
}

/// Objects linked through themselves, in the order of adding. It owns nothing.
struct LinkedList<Node: Linked> {
    private(set) var first: Unmanaged<Node>?
    private var last: Unmanaged<Node>?

    mutating func append(_ node: Node) {
        let link = Unmanaged.passUnretained(node)
        node.links = ListLinks(previous: last)
        if let last { last._withUnsafeGuaranteedRef { $0.links.next = link } } else { first = link }
        last = link
    }

    mutating func remove(_ node: Node) {
        let (before, after) = (node.links.previous, node.links.next)
        if let before { before._withUnsafeGuaranteedRef { $0.links.next = after } } else { first = after }
        if let after { after._withUnsafeGuaranteedRef { $0.links.previous = before } } else { last = before }
        node.links = ListLinks()
    }

    func visit(_ body: (Node) -> Void) {
        var link = first
        while let current = link {
            current._withUnsafeGuaranteedRef {
                link = $0.links.next
                body($0)
            }
        }
    }
}
