import Foundation
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile

/// Finds the names of addresses with a tool that reads programs and their debug information: `llvm-symbolizer`,
/// preferably from Swift's toolchain, or `addr2line` of binutils. One run of the tool handles all addresses of an
/// object.
struct Symbolizer: Sendable {
    /// The tool's path; nil if there is none.
    var tool: String?
    /// Timeout for one object, in seconds.
    var timeout = 600.0

    /// Picks the first tool in `path`, a list of folders as in PATH.
    init(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") {
        let folders = path.split(separator: ":").map(String.init)
        func first(_ name: String) -> String? {
            folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
        }
        let besideSwift = first("swift").flatMap { swift -> String? in
            guard let real = realpath(swift, nil) else { return nil }
            defer { free(real) }
            let tool = WrittenFolder.holding(String(cString: real)) + "/llvm-symbolizer"
            return access(tool, X_OK) == 0 ? tool : nil
        }
        tool = besideSwift ?? first("llvm-symbolizer") ?? first("addr2line")
    }

    /// Names addresses of a process that has ended. Addresses without a name stay unnamed, with a note on the reason.
    ///
    /// - Parameters:
    ///   - addresses: addresses within the instructions: for a call, the return address minus one.
    /// - Returns: the names, and readable notes on what has no names, and why.
    /// - Throws: `CancellationError` if the task is cancelled.
    func names(
        of addresses: [UInt64], in map: CodeMap
    ) async throws -> (symbols: SymbolTable, notes: [String]) {
        var result = (symbols: SymbolTable(map: map), notes: [String]())
        var byObject: [String: [(address: UInt64, base: UInt64)]] = [:]
        // Tools answer duplicates twice.
        for address in Set(addresses).sorted() {
            guard let mapping = map.mapping(at: address), mapping.path.hasPrefix("/") else { continue }
            byObject[mapping.path, default: []].append((address, mapping.base))
        }
        guard !byObject.isEmpty else { return result }
        guard let tool else {
            result.notes = [
                "functions have no names: neither llvm-symbolizer nor addr2line is on PATH; install binutils"
            ]
            return result
        }
        for (path, places) in byObject.sorted(by: { $0.key < $1.key }) {
            guard let kind = Self.kind(path) else {
                result.notes.append("\(path) no longer exists, so its functions have no names")
                continue
            }
            // A position-dependent program's addresses are the file's own.
            let own = places.map { kind == .fixed ? $0.address : $0.address &- $0.base }
            do {
                let functions = Self.functions(try await ask(tool, about: own, in: path))
                for (place, address) in zip(places, own) {
                    if let names = functions[address] { result.symbols.name(place.address, names) }
                }
            } catch let error as SamplerError {
                result.notes.append("\(path): \(error.message), so its functions have no names")
            }
        }
        return result
    }

    // MARK: Files

    private enum Kind { case fixed, anywhere }

    /// The kind by the type in an ELF file's header, elf(5); nil if the file is missing or not ELF.
    private static func kind(_ path: String) -> Kind? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 18)
        guard pread(descriptor, &header, 18, 0) == 18, header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return nil }
        return header[16] == 2 ? .fixed : .anywhere
    }

    // MARK: The tool

    /// With these options, both tools print three lines for each address: the address, its function's name or `??`, and
    /// the source location.
    private func arguments(_ tool: String, _ path: String) -> [String] {
        if tool.hasSuffix("addr2line") { return ["-a", "-f", "-e", path] }
        return [
            "--addresses", "--functions=linkage", "--no-demangle", "--no-inlines", "--output-style=GNU",
            "--obj=\(path)",
        ]
    }

    /// - Throws: `SamplerError`, `CancellationError`.
    private func ask(_ tool: String, about addresses: [UInt64], in path: String) async throws -> [UInt8] {
        let streams = [try MemoryFile(), try MemoryFile(), try MemoryFile()]
        try streams[0].write(Array(addresses.map { "0x\(String($0, radix: 16))\n" }.joined().utf8))
        // Prevents downloads.
        let environment = ToolEnvironment.quiet.merging(["DEBUGINFOD_URLS": nil]) { $1 }
        let ending: Program.Ending
        do {
            ending = try await Program(tool, arguments(tool, path), environment: environment).run(
                input: .memory(streams[0]), output: .memory(streams[1]), errors: .memory(streams[2]),
                seconds: timeout)
        } catch let error as LaunchError {
            throw SamplerError(message: "\(tool) cannot be started: \(error.reason)", remedy: "")
        }
        try Task.checkCancellation()
        if ending == .timedOut { throw SamplerError(message: "\(tool) took more than \(timeout) s", remedy: "") }
        guard ending.isSuccess else {
            let words = String(decoding: streams[2].contents().suffix(200), as: UTF8.self)
            throw SamplerError(message: "\(tool) failed: \(TerminalText.escaped(words))", remedy: "")
        }
        return streams[1].contents()
    }

    /// Function names by address. Unknown lines are skipped.
    static func functions(_ output: [UInt8]) -> [UInt64: [String]] {
        var functions: [UInt64: [String]] = [:]
        var address: UInt64?
        var isName = true
        for line in output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("0x"), let next = UInt64(text.dropFirst(2), radix: 16) {
                address = next
                isName = true
            } else if let address {
                if isName, !text.isEmpty, text != "??" { functions[address, default: []].append(text) }
                isName.toggle()
            }
        }
        return functions
    }
}
