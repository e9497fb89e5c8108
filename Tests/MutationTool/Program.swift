import Foundation

/// Another program, run to its end or to a limit of time.
struct Program {
    var path: String
    var arguments: [String]
    var folder: URL
    var environment: [String: String] = [:]

    struct Ended {
        let status: Int32
        let wasKilled: Bool
        let output: String
    }

    func run(seconds: Double = 3600) throws -> Ended {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [path] + arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // A file and not a pipe: a child that outlives the program would hold a pipe open.
        let file = FileManager.default.temporaryDirectory.appending(path: "mutate-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        process.standardOutput = handle
        process.standardError = handle
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        let isTooLate = ended.wait(timeout: .now() + seconds) == .timedOut
        if isTooLate {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let isSignal = process.terminationReason == .uncaughtSignal
        return Ended(
            status: isSignal ? -process.terminationStatus : process.terminationStatus, wasKilled: isTooLate,
            output: text)
    }
}
