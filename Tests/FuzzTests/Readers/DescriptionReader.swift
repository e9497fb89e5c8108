@testable import OpBenchModel
@testable import OpBenchRunner

extension FuzzReader {
    /// `run.json`, as `--resume` reads it, `compare` and its like, and the list of runs.
    static let description = FuzzReader(
        name: "description", form: .json, lengthLimit: 8192,
        words: {
            [
                "schema_version", "run_id", "started_utc", "arguments", "calibration", "iterations_per_ns",
                "executable",
                "builds", "base", "head", "injected", "path", "bytes", "modified", "sha256", "description", "stages",
                "seed",
                "quick", "timeout_ns", "workloads", "file", "name", "text", "order", "kernel", "cpu",
                "cores",
                "memory_bytes", "surroundings", "mitigations", "governor", "clock_resolution_ns", "host_class",
                "allocator",
                "compiler",
                "configuration", "git", "commit", "dirty", "environment", "state", "running", "finished",
                "samples_done",
                "samples_bad",
                "blocks_done", "runner_cpu_ns", "ended_utc", "00000-throughput engine block=0 w", "block=", "side=base",
                "block=9223372036854775807", "{\\\"name\\\": \\\"w\\\"}",
            ] + jsonWords
        },
        read: { bytes in
            let file = "r/run.json"
            let text = try decodedText(bytes, file)
            let facts = try RunFacts.decode(text: text, file: file)
            _ = facts.listRow(name: "r", isBaseline: false, state: .running)
            let rewritten = try RunFacts.Writer(facts).text(
                facts.progress ?? RunFacts.Progress(state: .running, samplesDone: 0))
            let same = try again("the description") {
                try JSONDocument.check(rewritten, file: file)
                return try RunFacts.decode(text: rewritten, file: file)
            }
            let twice = try RunFacts.Writer(same).text(
                same.progress ?? RunFacts.Progress(state: .cancelled, samplesDone: -1))
            try promise(twice.utf8.elementsEqual(rewritten.utf8), "the description was another when it was written")
            _ = (facts.environment, facts.machines, try facts.decodedWorkloads(of: "r"))
        })

    private static func decodedText(_ bytes: [UInt8], _ file: String) throws(InputError) -> String {
        let text = try TextFile.text(of: bytes, file: file)
        try JSONDocument.check(text, file: file)
        return text
    }
}
