import CLinuxMeasure
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import OpBenchLaunch

@Suite struct ProgramTests {
    private func shell(_ script: String, _ more: String...) -> Program { Program("sh", ["-c", script, "sh"] + more) }

    // MARK: How it ends

    @Test func `statuses and signals are distinguished`() async throws {
        #expect(try await shell("exit 0").run() == .exited(0))
        #expect(try await shell("exit 255").run() == .exited(255))
        #expect(try await shell("kill -TERM $$").run() == .signaled(SIGTERM))
        #expect(try await shell("kill -KILL $$").run(seconds: 1000) == .signaled(SIGKILL))
    }

    @Test(arguments: ["/nonexistent/program", "no such program in PATH"])
    func `a missing program is distinguished from one that cannot be started`(name: String) async throws {
        let missing = await #expect(throws: LaunchError.self) { _ = try await Program(name).run() }
        #expect(missing?.isMissing == true && missing?.program == name)
        let refused = await #expect(throws: LaunchError.self) { _ = try await Program("/etc/passwd").run() }
        #expect(refused?.code == EACCES)
        #expect("\(try #require(refused))" == "/etc/passwd: Permission denied")
    }

    @Test func `a closed descriptor, or a missing folder, is an error`() async throws {
        let closed = await #expect(throws: LaunchError.self) {
            _ = try await Program("true").run(output: .descriptor(-1))
        }
        #expect(closed?.code == EBADF)
        let folder = await #expect(throws: LaunchError.self) { _ = try await Program("true", in: "/nonexistent").run() }
        #expect(folder?.code == ENOENT)
    }

    // MARK: The program's surroundings

    @Test func `a program gets the given arguments, environment, folder and streams`() async throws {
        let input = try MemoryFile()
        try input.write(Array("hello".utf8))
        let (output, errors) = (try MemoryFile(), try MemoryFile())
        var program = shell(#"echo "$1|$(cat)|$ADDED|${HOME-none}|$PWD"; echo trouble >&2"#, "a b\n'")
        program.environment = ["ADDED": "é=ü", "HOME": nil]
        program.folder = "/usr"
        let ending = try await program.run(
            input: .memory(input), output: .memory(output), errors: .memory(errors))
        #expect(ending.isSuccess)
        #expect(String(decoding: output.contents(), as: UTF8.self) == "a b\n'|hello|é=ü|none|/usr\n")
        #expect(String(decoding: errors.contents(), as: UTF8.self) == "trouble\n")
    }

    @Test func `a program can get another name and a group of its own`() async throws {
        var program = Program("cat", ["/proc/self/cmdline"])
        program.ownName = "another"
        #expect(try await program.printed().text == "another\0/proc/self/cmdline\0")
        for hasOwnGroup in [false, true] {
            var shell = shell("cut -d ' ' -f 5 /proc/$$/stat; echo $$")
            shell.hasOwnGroup = hasOwnGroup
            let numbers = try await shell.printed().text.split(separator: "\n").compactMap { Int32($0) }
            #expect(numbers.count == 2 && numbers[0] == (hasOwnGroup ? numbers[1] : getpgrp()))
        }
    }

    @Test func `output beyond the limit is refused`() async throws {
        var program = shell("yes; echo more; exit 7")
        program.environment["LC_ALL"] = "C"
        let printed = try await program.printed(limit: 100_000, errorLimit: 1000)
        // A write that does not fit is refused as a whole.
        #expect(printed.ending == .exited(7) && (50_000...100_000).contains(printed.bytes.count))
        #expect(printed.errors.contains("not permitted"))
    }

    @Test func `a program has three streams and no other descriptor, and blocks and ignores no signal`() async throws {
        let other = open("/dev/null", O_RDONLY)
        defer { close(other) }
        // The last one is the folder that ls reads.
        #expect(try await Program("ls", ["/proc/self/fd"]).printed().text == "0\n1\n2\n3\n")
        await #expect(processExitsWith: .success) {
            signal(SIGUSR1, SIG_IGN)
            var usr2 = sigset_t()
            sigemptyset(&usr2)
            sigaddset(&usr2, SIGUSR2)
            pthread_sigmask(SIG_BLOCK, &usr2, nil)
            let masks = try await Program("grep", ["-E", "Sig(Blk|Ign)", "/proc/self/status"]).printed().text
            // The C library reserves signals 32 and 33.
            let numbers = masks.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0, radix: 16) }
            #expect(numbers.map { $0 & ~(0b11 << 31) } == [0, 0], "\(masks)")
        }
    }

    @Test func `this process waits for its programs even if it was started with SIGCHLD ignored`() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            let ending = try await Program("true").run()
            #expect(ending == .exited(0))
        }
    }

    @Test func `a file that the kernel cannot execute is not given to a shell`() async throws {
        let path = TemporaryFolder.unusedPath()
        #expect(try await shell("echo exit 7 >$1; chmod 755 $1", path).run().isSuccess)
        let refused = await #expect(throws: LaunchError.self) { _ = try await Program(path).run() }
        #expect(refused?.code == ENOEXEC)
    }

    // MARK: Time

    @Test func `a program that takes too long is killed`() async throws {
        #expect(try await Program("sleep", ["10000"]).run(seconds: 0.2) == .timedOut)
        #expect(try await shell("trap '' TERM INT; while :; do sleep 1; done").run(seconds: 0.2) == .timedOut)
    }

    @Test func `a program that ended while this process was stopped is in time`() async throws {
        await #expect(processExitsWith: .success) {
            // Stops this process for longer than the program may take; the program ends meanwhile.
            let script = #"kill -STOP "$1"; (sleep 3; kill -CONT "$1") >/dev/null 2>&1 & sleep 1; exit 5"#
            let ending = try await Program("sh", ["-c", script, "sh", "\(getpid())"]).run(seconds: 2)
            #expect(ending == .exited(5))
        }
    }

    // MARK: Cancellation

    @Test func `a program cancelled before its start is not started`() async throws {
        let started = Counter()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await Program("true").run { _ in started.add() }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(started.value == 0)
    }

    @Test(arguments: [false, true])
    func `a program cancelled while it runs is killed`(hasOwnGroup: Bool) async throws {
        let process = Mutex<pid_t>(0)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await Program("sleep", ["10000"], hasOwnGroup: hasOwnGroup).run {
                number in
                process.withLock { $0 = number }
                start.finish()
            }
        }
        for await _ in starts {}
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        // Reaped, so it is no longer a child of this process.
        #expect(clinux_wait_for(process.withLock(\.self)) == -1)
    }

    @Test func `cancelling after the end has no effect`() async throws {
        let task = Task { try await Program("true").run() }
        #expect(try await task.value.isSuccess)
        task.cancel()
    }

    /// Runs a script, cancels it once it has printed "begun", and returns all that it prints.
    private func cancelled(_ script: String, hasOwnGroup: Bool = false, _ requests: Program.RequestToEnd...)
        async throws -> String
    {
        let output = try MemoryFile()
        var program = shell(script)
        (program.hasOwnGroup, program.requestsToEnd) = (hasOwnGroup, requests)
        let task = Task { [program] in try await program.run(output: .memory(output)) }
        while output.size < 6 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        return String(decoding: output.contents(), as: UTF8.self)
    }

    @Test func `a program is asked to end before it is killed`() async throws {
        let script = "trap 'echo asked; exit 3' INT; echo begun; while :; do sleep 0.05; done"
        #expect(try await cancelled(script, .init(SIGINT, seconds: 1000)) == "begun\nasked\n")
    }

    @Test func `a program that ignores a request gets the next one, and is killed at last`() async throws {
        let heeding = "trap 'echo int' INT; trap 'echo term; exit' TERM"
        for (traps, last, text) in [(heeding, 1000, "begun\nint\nterm\n"), ("trap '' INT TERM", 0.1, "begun\n")] {
            let printed = try await cancelled(
                "\(traps); echo begun; while :; do sleep 0.05; done", hasOwnGroup: true,
                .init(SIGINT, seconds: 0.1), .init(SIGTERM, toGroup: true, seconds: last))
            #expect(printed == text)
        }
    }

    @Test func `a stopped program is continued and asked to end`() async throws {
        let script = "trap 'echo int; exit' INT; echo begun; kill -STOP $$; while :; do sleep 0.05; done"
        #expect(try await cancelled(script, .init(SIGINT, seconds: 1000)) == "begun\nint\n")
    }

    @Test(arguments: ["exit 0", "kill -SEGV $$", "exec sleep 10000", "sleep 20000"])
    func `a program's group ends with it`(end: String) async throws {
        let output = try MemoryFile()
        var program = shell("sleep 10000 & echo $!; \(end)")
        program.hasOwnGroup = true
        let seconds = end.hasPrefix("sleep") ? 2.0 : nil
        let task = Task { [program] in try await program.run(output: .memory(output), seconds: seconds) }
        while output.size == 0 { await Task.yield() }
        if end.hasPrefix("exec") { task.cancel() }
        _ = try? await task.value
        let text = String(decoding: output.contents(), as: UTF8.self)
        let process = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
        // It remains a zombie until the process that inherits it has waited for it.
        #expect(
            eventually("it has ended") {
                let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
                return status.isEmpty || status.contains(") Z ")
            })
    }

    // MARK: Many

    @Test func `a thousand programs at once, cancelled at any time, leave no process and no descriptor`() async throws {
        await #expect(processExitsWith: .success) {
            let seed = announcedSeed("a thousand programs")
            // Makes everything that the first start makes once.
            _ = try await Program("true").printed()
            let before = try ProgramTests.descriptors()
            var random = SeededGenerator(seed: seed)
            let (ended, cancelled) = (Counter(), Counter())
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<Scale.of(1000) {
                    // A limit of processes applies to all tests together.
                    if index >= 64 { await group.next() }
                    let (isEndless, yields) = (index % 4 == 0, Int.random(in: 0..<200, using: &random))
                    let cancels = isEndless || Bool.random(using: &random)
                    group.addTask {
                        let task = Task {
                            try await Program(isEndless ? "sleep" : "true", ["10000"], hasOwnGroup: index % 3 == 0)
                                .printed(errorLimit: 10)
                        }
                        if cancels {
                            for _ in 0..<yields { await Task.yield() }
                            task.cancel()
                        }
                        switch await task.result {
                        case .success(let printed):
                            #expect(printed.isSuccess && !isEndless)
                            ended.add()
                        case .failure(let error):
                            #expect(error is CancellationError && cancels, "\(error)")
                            cancelled.add()
                        }
                    }
                }
            }
            #expect(ended.value + cancelled.value == Scale.of(1000) && ended.value > 0 && cancelled.value > 0)
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
            // A thread may still be releasing its last objects, as the first may have been while they were counted.
            #expect(
                eventually("all descriptors are closed") {
                    (try? ProgramTests.descriptors()).map { $0 <= before } ?? false
                })
        }
    }

    private static func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
