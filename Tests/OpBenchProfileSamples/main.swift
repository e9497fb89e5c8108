// Writes every file that a profile has, of made-up profiles, for scripts/tests/test_profile_formats.py, which reads
// them with other programs' readers: `OpBenchProfileSamples FOLDER OPERATIONS`. The list of files is
// manifest.json.

import Glibc
import OpBenchModel
import OpBenchProfile

guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]), count >= 100 else {
    print("usage: OpBenchProfileSamples FOLDER OPERATIONS, 100 or more")
    exit(64)
}

/// Text that every format has to escape.
let hostile = "größe <&\"'>]]>\\ \u{1}\u{202E}%s"

let trace = madeUpTrace(operations: count)
try trace.check()
let profile = madeUpProfile(seed: 1)
let folder = try WrittenFolder(CommandLine.arguments[1])

func write<Result>(_ name: String, _ body: (NewFile) throws -> Result) throws -> Result {
    let file = try NewFile(name, in: folder)
    let result = try body(file)
    try file.publish()
    return result
}

let chrome = try write("trace.json") { try ChromeWriter.write(trace, to: $0) }
let cut = try write("cut.json") { try ChromeWriter.write(trace, to: $0, limit: 1000) }
let texts = [
    ("profile.folded", profile.folded()), ("profile.speedscope.json", profile.speedscope(title: hostile)),
    ("flame.svg", FlameGraph(profile, on: .engine, title: hostile, operations: 10).svg()),
    (
        "difference.svg",
        FlameGraph(
            base: profile, baseOperations: 10, head: madeUpProfile(seed: 2), headOperations: 20, title: hostile
        ).svg()
    ),
]
for (name, text) in texts { try write(name) { try $0.write(Array(text.utf8)) } }

let executed = trace.operations.filter(\.wasExecuted)
let flows = trace.dependencies.filter { dependency in
    [dependency.predecessor, dependency.successor].allSatisfy { trace.operations[Int($0)].wasExecuted }
}
let manifest: [(String, Int)] = [
    ("flows", flows.count),
    ("executed", executed.count), ("work", executed.reduce(0) { $0 + Int($1.duration) }),
    ("submitted", trace.operations.count), ("chromeEvents", chrome.events), ("chromeAllEvents", chrome.allEvents),
    ("cutEvents", cut.events), ("cutAllEvents", cut.allEvents), ("samples", profile.samples.count),
    ("weight", Int(profile.total)), ("threads", profile.threads.count),
]
let members = manifest.map { "\"\($0.0)\": \($0.1)" } + ["\"hostile\": \(JSONText.quoted(hostile))"]
try write("manifest.json") { try $0.write(Array("{ \(members.joined(separator: ", ")) }\n".utf8)) }
