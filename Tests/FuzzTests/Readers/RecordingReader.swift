import CRecording
import Foundation

@testable import OpBenchProfile

extension FuzzReader {
    /// Recordings. The bytes after the first are the payload of a block whose header is right, of the kind that the first
    /// byte says; or the whole file, if that is 0.
    static let recording = FuzzReader(
        name: "recording", lengthLimit: 8192,
        words: { ["oprecord", "\u{1}", "\u{2}", "\u{3}"] },
        seeds: { [[0] + MadeRecording().bytes, [2] + samples, [3], [4] + [UInt8](repeating: 0, count: 8)] },
        read: { bytes in
            guard let kind = bytes.first else { return }
            var made = MadeRecording()
            let content = Array(bytes.dropFirst())
            if kind != 0 { made.append(crecording_block(UInt32(kind)), thread: 42, content) }
            let path = Scratch.folder + "/recording"
            try Data(kind == 0 ? content : made.bytes).write(to: URL(filePath: path))
            let recording = try Recording.read(path)
            try promise(recording.details.count == recording.trace.operations.count, "an operation has no details")
            try again("the recording's trace") { try recording.trace.check() }
        })

    private static var samples: [UInt8] {
        [
            crecording_event(crecording_enqueued, 1, at: 10, value: 900, detail: 1),
            crecording_event(crecording_enqueued, 2, at: 11, detail: 1, flags: Int(crecording_is_barrier)),
            crecording_event(crecording_dependency, 2, at: 11, value: 1),
            crecording_event(crecording_suspended, at: 12, detail: 1), crecording_event(crecording_started, 1, at: 13),
            crecording_event(crecording_finished, 1, at: 14, value: 1),
            crecording_event(crecording_wake, 42, at: 15, value: 43),
        ].flatMap { event in withUnsafeBytes(of: event) { Array($0) } }
    }
}
