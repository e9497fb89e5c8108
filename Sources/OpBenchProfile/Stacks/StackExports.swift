import OpBenchModel

extension StackProfile {
    /// Folded stacks, as Brendan Gregg's FlameGraph takes them: a line for each stack, its functions from the
    /// outermost, joined by semicolons, then a space and the weight. In the order of the text. The thread stands first
    /// if there are names of threads.
    public func folded() -> String {
        var weights: [String: Int64] = [:]
        let names = frames.map { Self.foldedName($0.name) }
        for sample in samples where sample.weight > 0 {
            let thread = threads[Int(sample.thread)]
            let words = (thread.isEmpty ? [] : [Self.foldedName(thread)]) + stack(sample.stack).map { names[Int($0)] }
            weights[words.isEmpty ? "[no stack]" : words.joined(separator: ";"), default: 0] += sample.weight
        }
        return weights.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    /// On one line, and without the character that separates.
    private static func foldedName(_ name: String) -> String {
        String(TerminalText.escaped(name).map { $0 == ";" ? ":" : $0 })
    }

    /// The file format of https://www.speedscope.app (`file-format-spec.ts` of jlfwong/speedscope): one sampled
    /// profile of all threads, and one of each if there are several.
    ///
    /// - Parameter title: of the file.
    public func speedscope(title: String) -> String {
        let unit = [.allocations, .instructions].contains(self.unit) ? "none" : self.unit.rawValue
        var text = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"opbench\","
        text += "\"name\":\(JSONText.quoted(title)),\"activeProfileIndex\":0,\"shared\":{\"frames\":[\n"
        text += frames.map { frame in
            let file = frame.object.isEmpty ? "" : ",\"file\":\(JSONText.quoted(frame.object))"
            return "{\"name\":\(JSONText.quoted(frame.name))\(file)}"
        }.joined(separator: ",\n")
        text += "\n]},\"profiles\":[\n"
        var parts = [(name: "all threads", samples: samples)]
        if threads.count > 1 {
            parts += threads.indices.map { thread in
                (name: threads[thread], samples: samples.filter { $0.thread == thread })
            }
        }
        text += parts.map { part in
            let sum = part.samples.reduce(0) { $0 + $1.weight }
            // Those without a time stay in their order.
            let sorted = part.samples.enumerated().sorted {
                ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
            }
            let stacks = sorted.map { "[" + stack($0.element.stack).map { String($0) }.joined(separator: ",") + "]" }
            return "{\"type\":\"sampled\",\"name\":\(JSONText.quoted(part.name)),\"unit\":\"\(unit)\",\"startValue\":0,"
                + "\"endValue\":\(sum),\n\"samples\":[\(stacks.joined(separator: ","))],\n"
                + "\"weights\":[\(sorted.map { String($0.element.weight) }.joined(separator: ","))]}"
        }.joined(separator: ",\n")
        return text + "\n]}\n"
    }
}
