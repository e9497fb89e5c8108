import CRecording
import OpBenchModel

/// A recording: the file that a program's `TraceRecorder` wrote (`Sources/CRecording/include/CRecording.h` has the format).
///
/// 88 bytes per operation and 8 per dependency, and about as much again while it is read.
public struct Recording: Sendable {
    /// Times are relative to the recording's start. Operations are in the order of submission. Those that were in a
    /// queue before, or whose beginning rotation removed, are left out: see `partialOperations`.
    ///
    /// The title is the program's name. A queue's limit is the highest that it had. The classes of closures are called
    /// `closure`.
    public var trace: SampleTrace
    /// Parallel to `trace.operations`.
    public var details: [RecordedOperation]
    /// The name of the program's file.
    public var program: String
    /// Seconds since 1970.
    public var startDate: Int64
    /// CLOCK_MONOTONIC at the recording's start, in nanoseconds.
    public var clockStart: Int64
    /// Events that the recorder left out because the disk was too slow.
    public var lostEvents: Int
    /// Operations that are left out because their submission is not in the recording.
    public var partialOperations: Int
    /// The number of earlier parts that rotation removed, that are not beside the file, or that lack their end.
    public var missingParts: Int
    /// Whether the program was killed, still runs, or the file was cut or damaged: it has no mark of its end.
    public var isCut: Bool
    /// The bytes at the end of the file that are left out: they do not begin with a whole block.
    public var unreadBytes: Int
}

/// The part of a recording to read.
public struct RecordingWindow: Sendable, Equatable {
    /// Operations submitted before this time are left out; nanoseconds since the recording's start.
    public var from: TraceTime?
    /// Operations submitted at this time or later are left out.
    public var to: TraceTime?
    /// The name of the queue, or of the queues, whose operations are kept.
    public var queue: String?

    /// Everything.
    public static let all = RecordingWindow()

    public init(from: TraceTime? = nil, to: TraceTime? = nil, queue: String? = nil) {
        self.from = from
        self.to = to
        self.queue = queue
    }

    func contains(_ time: TraceTime) -> Bool { from.map { $0 <= time } ?? true && to.map { time < $0 } ?? true }
}

/// The part of an operation that a trace has no place for. 24 bytes.
public struct RecordedOperation: Sendable, Equatable, BitwiseCopyable {
    /// When it was cancelled; `absent` if that is unknown, or it was not.
    public var cancelTime = TraceTime.absent
    /// The CPU time of its thread between `start` and `end`, in nanoseconds; `absent` if it is unknown: the operation
    /// did not run, or ended on another thread.
    public var processorTime = TraceTime.absent
    /// The time of its thread in the run queue in that time, in microseconds; `crecording_unknown` if it is unknown.
    var queuedTime = crecording_unknown
    /// Whether its thread never gave up its processor in that time: what is missing from the CPU time to the elapsed
    /// time was waiting for one.
    public var isUnblocked = false
    /// Whether it was cancelled before it ended.
    public var isCancelled = false
    /// Whether it was added as a closure.
    public var isClosure = false
    /// Whether it is the block of a barrier.
    public var isBarrier = false

    public init() {}
}

extension Recording {
    /// Reads the recording at a path, with the part before it in `path.1`, if that is there and belongs to it.
    ///
    /// A file that is cut or damaged is read up to its first block that is not whole. A part before it to which that
    /// happened is left out.
    ///
    /// - Parameter progress: called with the bytes that are read, and all there are, after each MiB or so and at the end.
    /// - Throws: `InputError` whose `path` is the place in the file, `byte 1234`, for anything but a recording: other
    ///   files, other versions, missing blocks, values out of range, and a queue that is not in it.
    public static func read(
        _ path: String, window: RecordingWindow = .all, progress: ((_ done: Int, _ size: Int) -> Void)? = nil
    ) throws(InputError) -> Recording {
        let before = try? RecordingPart(path + ".1")
        let last: RecordingPart
        do { last = try RecordingPart(path) } catch {
            guard before != nil else { throw error }
            throw InputError(
                file: error.file, path: error.path, message: error.message,
                remedy: "\(path).1 is a recording: give that one")
        }
        var parts = [last]
        if let before, before.isFollowed(by: last) { parts.insert(before, at: 0) }
        var missingParts = Int(last.start.part) - (parts.count - 1)
        let size = max(1, parts.reduce(0) { $0 + $1.size })
        var events = RecordedEvents()
        var end: TraceTime?
        var done = 0
        for index in parts.indices {
            var shown = 0
            while let block = try parts[index].next() {
                let part = parts[index]
                guard end == nil else { throw part.error(block.offset, "something follows the recording's end") }
                switch block.content {
                case .start: throw part.error(block.offset, "a second start")
                case .events(let list, let thread, let lost):
                    if let (number, fault) = events.add(list, of: thread, lost: lost) {
                        throw part.error(block.payload + number * MemoryLayout<crecording_event>.size, fault)
                    }
                case .names(let names): for (name, text) in names { events.add(name, text) }
                case .end(let time): end = time
                }
                if part.offset - shown > 1 << 20 {
                    shown = part.offset
                    progress?(min(done + shown, size), size)
                }
            }
            done += parts[index].offset
            if index + 1 < parts.count, parts[index].number != parts[index + 1].number - 1 {
                events = RecordedEvents()
                missingParts += 1
            }
        }
        var recording = try events.recording(window, end: end, of: last)
        recording.missingParts = missingParts
        recording.isCut = end == nil
        recording.unreadBytes = max(0, parts[parts.count - 1].size - parts[parts.count - 1].offset)
        progress?(size, size)
        return recording
    }
}
