import OpBenchModel

/// A flame graph in one self-contained SVG file for a browser. A click on a bar zooms to it, a click on the lowest bar
/// zooms out. After Brendan Gregg, "The flame graph" (CACM 2016): width is weight, callees are above their callers, and
/// the order from left to right is alphabetical, not chronological.
public struct FlameGraph: Sendable {
    public var title: String
    /// A line under the title.
    public var subtitle: String
    private let tree: FlameTree
    private let legend: [(color: String, words: String)]

    /// - Parameters:
    ///   - backend: the profiled backend, which names the class of its own code.
    ///   - operations: the number of operations in the profile, for figures per operation; 0 omits them.
    public init(_ profile: StackProfile, on backend: BackendID, title: String, operations: Int = 0) {
        self.title = title
        let classifier = FrameClassifier(backend)
        tree = FlameTree(profile, classifier: classifier, operations: operations)
        subtitle = profile.words
        legend = classifier.classes.map { ($0.color, $0.words) }
    }

    /// The difference of two profiles with the same unit, per operation.
    public init(
        base: StackProfile, baseOperations: Int, head: StackProfile, headOperations: Int, title: String
    ) {
        self.title = title
        tree = FlameTree(base: base, baseOperations: baseOperations, head: head, headOperations: headOperations)
        let change =
            Double(head.total) / Double(max(1, headOperations)) - Double(base.total) / Double(max(1, baseOperations))
        subtitle =
            "width: the second profile; in total \(change < 0 ? "−" : "+")"
            + "\(head.unit.text(change.magnitude)) per operation"
        legend = [("#ff6464", "more than in the first"), ("#ffffff", "equal"), ("#6464ff", "less")]
    }

    // MARK: Layout

    private static let width = 1200.0
    private static let barHeight = 17
    private static let top = 62
    private static let bottom = 30
    /// The least width of visible bars, in the picture's units.
    private static let leastWidth = 0.3

    /// A bar's position: parts of the whole width, and its row from below.
    struct Place: Equatable {
        var bar: Int
        var start: Double
        var width: Double
        var row: Int
    }

    /// The positions of all bars that are wide enough.
    func places() -> [Place] {
        let whole = tree.bars[0].weight
        var places: [Place] = []
        var open = [Place(bar: 0, start: 0, width: 1, row: 0)]
        while let place = open.popLast() {
            places.append(place)
            var start = place.start
            for child in tree.bars[place.bar].children {
                let width = whole > 0 ? tree.bars[child].weight / whole : 0
                if width * Self.width >= Self.leastWidth {
                    open.append(Place(bar: child, start: start, width: width, row: place.row + 1))
                }
                start += width
            }
        }
        return places.sorted { ($0.row, $0.start, $0.bar) < ($1.row, $1.start, $1.bar) }
    }

    // MARK: Text

    /// The whole file.
    public func svg() -> String {
        let places = places()
        let rows = (places.map(\.row).max() ?? 0) + 1
        let height = Self.top + rows * Self.barHeight + Self.bottom
        let width = Quantities.fixed(Self.width, decimals: 0)
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" \
            font-family="sans-serif" font-size="12">
            <style>.b { cursor: pointer } .b:hover rect { stroke: #000 } .b text { pointer-events: none }</style>
            <rect width="100%" height="100%" fill="#fff"/>
            <text x="8" y="18" font-size="15">\(XMLText.attribute(title))</text>
            <text x="8" y="36" fill="#555">\(XMLText.attribute(subtitle))</text>

            """
        var x = 8
        for entry in legend {
            text += "<rect x=\"\(x)\" y=\"43\" width=\"11\" height=\"11\" fill=\"\(entry.color)\" stroke=\"#999\"/>"
            text += "<text x=\"\(x + 15)\" y=\"53\" font-size=\"11\">\(XMLText.attribute(entry.words))</text>\n"
            x += 28 + 7 * entry.words.unicodeScalars.count
        }
        text += "<g id=\"bars\">\n"
        for place in places { text += bar(place, rows: rows) }
        text += "</g>\n"
        text += "<text id=\"detail\" x=\"8\" y=\"\(height - 10)\" fill=\"#333\"></text>\n"
        return text + "<script>//<![CDATA[\n\(Self.script)//]]></script>\n</svg>\n"
    }

    private func bar(_ place: Place, rows: Int) -> String {
        let bar = tree.bars[place.bar]
        let y = Self.top + (rows - 1 - place.row) * Self.barHeight
        let (x, width) = (place.start * Self.width, place.width * Self.width)
        // The full name begins with modules and types, which would fill the bar.
        let short = SwiftName(bar.name).short ?? bar.name
        let (name, label) = (XMLText.attribute(bar.name), XMLText.attribute(short))
        let parts = "data-s=\"\(Self.part(place.start))\" data-w=\"\(Self.part(place.width))\""
        return
            "<g class=\"b\" \(parts) data-r=\"\(place.row)\"><title>\(name): \(XMLText.attribute(bar.detail))</title>"
            + "<rect x=\"\(Quantities.fixed(x, decimals: 2))\" y=\"\(y)\" width=\"\(Quantities.fixed(width, decimals: 2))\" "
            + "height=\"\(Self.barHeight - 1)\" fill=\"\(bar.color)\" rx=\"1\"/>"
            + "<text x=\"\(Quantities.fixed(x + 3, decimals: 2))\" y=\"\(y + 12)\" data-n=\"\(label)\">"
            + "\(XMLText.attribute(Self.fitting(short, width)))</text></g>\n"
    }

    /// A part of the whole, precise enough for a magnification of 10,000.
    private static func part(_ value: Double) -> String { Quantities.fixed(value, decimals: 9) }

    /// As much of a name as fits; a letter is about 7 units wide.
    private static func fitting(_ name: String, _ width: Double) -> String {
        let letters = Int((width - 6) / 7)
        if letters < 3 { return "" }
        let scalars = name.unicodeScalars
        if scalars.count <= letters { return name }
        return String(String.UnicodeScalarView(scalars.prefix(letters - 1))) + "…"
    }

    /// Moves all bars when one is clicked: its callers and callees are stretched, the rest is hidden.
    private static let script = """
        (function () {
          var all = Array.prototype.slice.call(document.querySelectorAll("g.b")), whole = \(fixedWidth);
          var detail = document.getElementById("detail");
          function number(bar, name) { return parseFloat(bar.getAttribute("data-" + name)); }
          function fit(bar, width) {
            var text = bar.querySelector("text"), name = text.getAttribute("data-n"), room = Math.floor((width - 6) / 7);
            text.textContent = room < 3 ? "" : name.length <= room ? name : name.slice(0, room - 1) + "\\u2026";
          }
          function zoom(chosen) {
            var start = number(chosen, "s"), part = number(chosen, "w"), row = number(chosen, "r"), slip = part * 1e-6;
            all.forEach(function (bar) {
              var s = number(bar, "s"), w = number(bar, "w"), r = number(bar, "r");
              var isCaller = r < row && s <= start + slip && s + w >= start + part - slip;
              var isWithin = r >= row && s >= start - slip && s + w <= start + part + slip;
              bar.style.display = isCaller || isWithin ? "" : "none";
              if (!isCaller && !isWithin) return;
              var x = isCaller ? 0 : (s - start) / part * whole, width = isCaller ? whole : w / part * whole;
              bar.querySelector("rect").setAttribute("x", x);
              bar.querySelector("rect").setAttribute("width", width);
              bar.querySelector("text").setAttribute("x", x + 3);
              bar.style.opacity = isCaller ? 0.5 : 1;
              fit(bar, width);
            });
          }
          all.forEach(function (bar) {
            bar.addEventListener("click", function () { zoom(bar); });
            bar.addEventListener("mouseover", function () { detail.textContent = bar.querySelector("title").textContent; });
          });
        })();

        """

    private static var fixedWidth: String { Quantities.fixed(width, decimals: 0) }
}
