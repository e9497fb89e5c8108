/// The file in which a sample's process passes its trace to its parent.
public enum TraceFile {
    private static let file = RecordFile(title: "opbench trace 4")

    private struct Content: Codable {
        /// Without its records.
        var trace: SampleTrace
        var knowsWaits: Bool
    }

    /// Writes the bytes of a trace, in pieces. Does not check them; the reader does.
    public static func write(_ trace: SampleTrace, to sink: any ByteSink) throws {
        try file.write(
            Content(trace: trace, knowsWaits: trace.waits != nil), trace.operations, trace.threadEvents, trace.spans,
            trace.dependencies, trace.waits ?? [], to: sink)
    }

    /// - Throws: `RecordError` unless the file is complete, consistent and of this version.
    public static func read(_ bytes: [UInt8]) throws(RecordError) -> SampleTrace {
        let (content, operations, threadEvents, spans, dependencies, waits) = try file.read(
            bytes, Content.self, TracedOperation.self, TracedThreadEvent.self, TracedSpan.self, TracedDependency.self,
            TracedWait.self)
        var trace = content.trace
        (trace.operations, trace.threadEvents, trace.spans) = (operations, threadEvents, spans)
        (trace.dependencies, trace.waits) = (dependencies, content.knowsWaits ? waits : nil)
        try trace.check()
        return trace
    }
}
