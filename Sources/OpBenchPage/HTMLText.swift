import OpBenchModel

/// Text for HTML content or an attribute in double quotes.
enum HTMLText {
    /// Invisible characters are written as escapes; line ends stay.
    static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            XMLText.attribute(
                TerminalText.escaped(String(line), limit: TerminalText.messageLimit, keepsScopes: true))
        }.joined(separator: "\n")
    }
}

// The parts of the page that are visible without scripts.

extension ReportPage {
    /// The line about each run below the page's title.
    var heading: String {
        runs.map { run in
            let name = runs.count > 1 ? ["<strong>\(HTMLText.escaped(run.name))</strong>"] : []
            let words = (name + run.heading.map(HTMLText.escaped)).map { "<span>\($0)</span>" }
            return words.isEmpty ? "" : "<p class=\"run\">\(words.joined(separator: " "))</p>\n"
        }.joined()
    }

    /// The results of each run in sentences.
    var sentences: String {
        runs.filter { !$0.sentences.isEmpty }.map { run in
            let name = runs.count > 1 ? "<h2>\(HTMLText.escaped(run.name))</h2>\n" : ""
            let items = run.sentences.map { "<li>\(HTMLText.escaped($0))</li>\n" }.joined()
            return "\(name)<ul class=\"sentences\">\n\(items)</ul>\n"
        }.joined()
    }

    /// The explanations of the runs, folded below their headings.
    var explanations: String {
        runs.flatMap(\.explanations).map { text in
            let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            return """
                <details class="explanation">
                <summary>Explained: \(HTMLText.escaped(String(lines[0])))</summary>
                <pre>\(HTMLText.escaped(lines.count > 1 ? String(lines[1]) : ""))</pre>
                </details>

                """
        }.joined()
    }

    /// The verdicts; the page's script adds the figures below them. Empty if nothing was judged.
    var outcomes: String {
        guard !verdicts.isEmpty else { return "" }
        let articles = verdicts.enumerated().map { index, judged in
            // Before the outcome: whether the sides differ in more than their code.
            let surroundings = judged.surroundings.map {
                "<p class=\"hint\">Differs around the code: \(HTMLText.escaped($0))</p>\n"
            }
            return """
                <article class="verdict" data-outcome="\(HTMLText.escaped(judged.outcome))">
                <h3>\(HTMLText.escaped(judged.title))</h3>
                \(surroundings.joined())<p class="outcome"><strong>\(HTMLText.escaped(judged.outcome))</strong> \(judged.counts)</p>
                <div id="verdict-\(index)"></div>
                </article>

                """
        }.joined()
        return """
            <section id="verdicts" aria-labelledby="verdicts-title">
            <h2 id="verdicts-title">Verdicts</h2>
            \(articles)</section>

            """
    }

    /// The commands that would judge the runs, folded; empty without commands.
    var commands: String {
        guard !advice.isEmpty else { return "" }
        let lines = advice.map { advice in
            "<li>\(HTMLText.escaped(advice.words)): <code>\(HTMLText.escaped(advice.command))</code></li>\n"
        }.joined()
        return """
            <details id="judging">
            <summary>Judging the figures</summary>
            <ul class="advice">
            \(lines)</ul>
            </details>

            """
    }
}

extension JudgedFigures {
    /// `12 figures: 10 pass, 2 inconclusive`
    fileprivate var counts: String {
        let asked = table.rows.filter { $0.verdict != .unjudged }
        return "\(counted(asked.count, "figure")) judged" + (asked.isEmpty ? "" : ": \(asked.verdictCounts)")
    }
}
