import CLinux
import Foundation
import OpBenchLaunch
import TestSupport
import Testing

@testable import OpBenchCommand

/// The built program, run like a user runs it.
enum OpBenchProcess {
    struct Finished: Sendable {
        /// The exit code; minus the signal's number if a signal killed it.
        let status: Int32
        let output: String
        let errors: String
    }

    static let binary = program("opbench")

    /// A program next to the test bundle, which is the running executable.
    static func program(_ name: String) -> String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The package's root.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - program: a program other than opbench.
    ///   - device: receives its standard output instead of the result.
    ///   - during: called with the process's number while it runs; the program's end is awaited afterwards.
    static func run(
        _ arguments: [String], in folder: ScratchFolder, program: String = binary, outputTo device: String? = nil,
        environment: [String: String?] = [:],
        during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> Finished {
        // Files instead of pipes: a sample that outlives its parent would keep a pipe open, and the test would hang.
        let streams = try ScratchFolder()
        try streams.write("", to: "output")
        try streams.write("", to: "errors")
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: device ?? streams.root + "/output"))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: streams.root + "/errors"))
        let (starts, start) = AsyncStream.makeStream(of: Int32.self)
        async let ending = {
            defer { start.finish() }
            return try await Program(program, arguments, environment: environment, in: folder.root).run(
                output: .descriptor(output.fileDescriptor), errors: .descriptor(errors.fileDescriptor),
                onStart: { start.yield($0) })
        }()
        for await process in starts { try await during(process) }
        let status: Int32 =
            switch try await ending {
            case .exited(let code): code
            case .signaled(let number): -number
            case .timedOut: -SIGKILL
            }
        try output.close()
        try errors.close()
        return Finished(status: status, output: try streams.read("output"), errors: try streams.read("errors"))
    }

    /// Runs a command line in the test's process: for commands that neither take samples nor start programs.
    ///
    /// Its thread has a working folder, a standard output and a standard error of its own (Linux keeps both by thread),
    /// and no other descriptors.
    static func runHere(_ arguments: [String], in folder: ScratchFolder) async throws -> Finished {
        let streams = try ScratchFolder()
        let status = await withCheckedContinuation { continuation in
            let thread = Thread {
                let unshare = unsafeBitCast(dlsym(nil, "unshare"), to: (@convention(c) (Int32) -> Int32).self)
                let workingFolder: Int32 = 0x200  // CLONE_FS
                let files = ["/dev/null", "\(streams.root)/output", "\(streams.root)/errors"]
                let isApart =
                    unshare(workingFolder) == 0 && chdir(folder.root) == 0 && clinux_leave_shared_files() == 0
                    && files.indices.allSatisfy { Int32($0) == open(files[$0], O_RDWR | O_CREAT, 0o600) }
                continuation.resume(returning: isApart ? OpBench.exitCode(ofRunning: arguments) : -1)
            }
            // As much as a process's first thread.
            thread.stackSize = 8 << 20
            thread.start()
        }
        return Finished(status: status, output: try streams.read("output"), errors: try streams.read("errors"))
    }
}

/// A new empty folder, removed with the object.
final class ScratchFolder: Sendable {
    let root: String

    init() throws {
        root = try TemporaryFolder.make()
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func write(_ text: String, to name: String) throws {
        let file = URL(fileURLWithPath: root + "/" + name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: root + "/" + name, encoding: .utf8)
    }

    /// The state of a folder and all its files, by name, including contents and times of change.
    func states(_ name: String) throws -> [String: String] {
        let path = "\(root)/\(name)"
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return try Dictionary(
            uniqueKeysWithValues: (["."] + names).map { file in
                var facts = stat()
                guard stat("\(path)/\(file)", &facts) == 0 else { throw CocoaError(.fileReadNoSuchFile) }
                let text = file == "." ? "" : try read("\(name)/\(file)")
                let times = [facts.st_mtim, facts.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
                return (file, "\(facts.st_ino) \(facts.st_mode) \(times) \(text)")
            })
    }

    /// The line of a run's description with the speed of its work.
    func calibration(of run: String) throws -> Substring {
        let lines = try read("results/\(run)/run.json").split(separator: "\n")
        return try #require(lines.first { $0.contains("iterations_per_ns") })
    }

    /// Everything in it, by relative path, sorted.
    func contents() -> [String] {
        (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).sorted()
    }
}

/// Waits until `condition` holds, without assuming how long that takes; false if it never does.
func eventuallyTrue(
    _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) async rethrows -> Bool {
    let patience = Patience()
    while !patience.isOver() {
        if try condition() { return true }
        await Task.yield()
        usleep(2000)
    }
    Issue.record("never came true: \(what)", sourceLocation: sourceLocation)
    return false
}
