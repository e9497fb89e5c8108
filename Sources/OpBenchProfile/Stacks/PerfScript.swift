import OpBenchModel

/// Parses the output of `perf script -F comm,pid,tid,time,event,period,ip,sym,symoff,dso`, or of `perf script` without
/// a list of fields. Each sample has a line with thread, time, period and event, then a line per function, the
/// innermost first, and an empty line.
///
///     engine normal 1 16755/16788 24769.522195:    1003009 cpu-clock:u:
///                 116c hot+0x13 (/tmp/a)
///                891f5 start_thread+0x305 (/usr/lib/x86_64-linux-gnu/libc.so.6)
///
/// A thread's name may contain spaces and anything else. Unknown lines are skipped, counted and reported.
public struct PerfScript: Sendable {
    /// The profile. Periods are weights: nanoseconds for the events `cpu-clock` and `task-clock`.
    public private(set) var profile: StackProfile
    /// Names of the events, with perf's modifiers: `cpu-clock:u` if kernel code is excluded.
    public private(set) var events: Set<String> = []
    /// The number of samples that perf dropped.
    public private(set) var lost: Int64 = 0
    /// Unknown lines, with the lines that belong to them.
    public private(set) var skippedLines = 0

    /// - Parameters:
    ///   - output: any text.
    ///   - threads: names of threads by id, which replace perf's.
    ///   - demangle: returns a readable name, or nil to keep the symbol.
    public init(
        _ output: [UInt8], unit: WeightUnit = .nanoseconds, threads: [Int32: String] = [:],
        demangle: (String) -> String? = SwiftDemangler.demangle
    ) {
        profile = StackProfile(unit: unit)
        var names: [String: String] = [:]
        var header: Header?
        var stack: [StackFrame] = []

        func frame(_ line: ArraySlice<UInt8>) -> StackFrame? {
            guard let (symbol, object) = Self.function(line) else { return nil }
            let name = names[symbol] ?? demangle(symbol) ?? symbol
            names[symbol] = name
            return StackFrame(name: name, symbol: symbol, object: object)
        }
        func finish(_ script: inout PerfScript) {
            guard let sample = header else { return }
            header = nil
            let isAdded = script.profile.add(
                stack.reversed(), weight: sample.period, thread: threads[sample.number] ?? sample.thread,
                time: sample.time)
            if !isAdded { script.skippedLines += 1 }
        }

        for line in output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if Self.isBlank(line) {
                finish(&self)
            } else if line.first == UInt8(ascii: "#"), header == nil {
                continue
            } else if line.first == UInt8(ascii: "\t") || line.first == UInt8(ascii: " "), header != nil {
                if let frame = frame(line), stack.count < StackProfile.mostFrames {
                    stack.append(frame)
                } else {
                    skippedLines += 1
                }
            } else {
                finish(&self)
                stack = []
                if let count = Self.lost(line) {
                    lost.addClamped(count)
                    continue
                }
                guard let (next, rest) = Self.header(line) else {
                    skippedLines += 1
                    continue
                }
                header = next
                events.insert(next.event)
                // Without call chains, the line itself has the one function.
                if !Self.isBlank(rest), let frame = frame(rest) { stack = [frame] }
            }
        }
        finish(&self)
    }

    // MARK: Lines

    private struct Header {
        var thread: String
        var number: Int32
        var time: Int64
        var period: Int64
        var event: String
    }

    /// `comm pid/tid time: PERF_RECORD_LOST lost 17`; without a number, at least one.
    static func lost(_ line: ArraySlice<UInt8>) -> Int64? {
        let words = line.split(whereSeparator: isSpace)
        let names = ["PERF_RECORD_LOST", "PERF_RECORD_LOST_SAMPLES"]
        guard let place = words.lastIndex(where: { word in names.contains { word.elementsEqual($0.utf8) } }),
            place >= 2, time(words[place - 1]) != nil, thread(words[place - 2]) != nil
        else { return nil }
        return words[(place + 1)...].compactMap { integer($0) }.first ?? 1
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    static func isBlank(_ line: ArraySlice<UInt8>) -> Bool { line.allSatisfy(isSpace) }

    /// - Returns: also the text after the event's name.
    private static func header(_ line: ArraySlice<UInt8>) -> (Header, rest: ArraySlice<UInt8>)? {
        let words = line.split(whereSeparator: isSpace)
        // The thread's name may contain anything; the time is the last word that looks like one.
        guard let place = words.indices.last(where: { time(words[$0]) != nil }), place >= 2,
            let time = time(words[place])
        else { return nil }
        // The processor may precede the time: `[001]`.
        let numbers = words[place - 1].first == UInt8(ascii: "[") ? place - 2 : place - 1
        guard numbers >= 1, let id = thread(words[numbers]) else { return nil }
        guard place + 2 < words.count, let period = integer(words[place + 1]),
            words[place + 2].last == UInt8(ascii: ":")
        else { return nil }
        let name =
            id < 0
            ? "ending threads"
            : String(decoding: line[words[0].startIndex..<words[numbers - 1].endIndex], as: UTF8.self)
        return (
            Header(
                thread: name, number: id, time: time, period: period,
                event: String(decoding: words[place + 2].dropLast(), as: UTF8.self)),
            line[words[place + 2].endIndex...]
        )
    }

    /// The second number of `pid/tid`, or `tid` alone. It is −1 for a thread that ends: the kernel has forgotten it.
    static func thread(_ word: ArraySlice<UInt8>) -> Int32? {
        let ids = word.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            $0.elementsEqual("-1".utf8) ? -1 : integer($0).flatMap { Int32(exactly: $0) }
        }
        return (1...2).contains(ids.count) && !ids.contains(nil) ? ids[ids.count - 1] : nil
    }

    /// Parses seconds with up to nine decimals and a colon, `24769.522195:`, into nanoseconds.
    static func time(_ word: ArraySlice<UInt8>) -> Int64? {
        guard word.last == UInt8(ascii: ":"), let point = word.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        let fraction = word[(point + 1)...].dropLast()
        guard let seconds = integer(word[..<point]), let part = integer(fraction), fraction.count <= 9 else {
            return nil
        }
        let scale = (fraction.count..<9).reduce(Int64(1)) { scale, _ in scale * 10 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(part * scale)
        return overflow || carry ? nil : sum
    }

    static func integer(_ word: ArraySlice<UInt8>) -> Int64? {
        guard !word.isEmpty, word.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(String(decoding: word, as: UTF8.self))
    }

    /// `116c hot+0x13 (/tmp/a)`: symbol and file. The symbol may have spaces and parentheses, as a C++ name does.
    static func function(_ line: ArraySlice<UInt8>) -> (symbol: String, object: String)? {
        let line = line.drop(while: isSpace)
        guard let addressEnd = line.firstIndex(where: isSpace), line[..<addressEnd].allSatisfy(isHex) else {
            return nil
        }
        var text = String(decoding: line[addressEnd...], as: UTF8.self)[...]
        while let last = text.last, last == " " || last == "\r" || last == "\t" { text.removeLast() }
        text = text.drop { $0 == " " || $0 == "\t" }
        var object = ""
        // A file that was replaced since has ` (deleted)` after its path, within the parentheses.
        var body = text.hasSuffix(" (deleted))") ? text.dropLast(" (deleted))".count) + ")" : text
        if body.hasSuffix(")"), let open = lastOpening(body) {
            object = String(body[body.index(open, offsetBy: body[open] == " " ? 2 : 1)...].dropLast())
            body = body[..<open]
        }
        if object == "inlined" || object == "[unknown]" { object = "" }
        let symbol = withoutOffset(body)
        return (symbol.isEmpty ? StackFrame.unknownName : symbol, object)
    }

    /// The beginning of the file: the last ` (/` or ` ([`, since paths may contain parentheses; otherwise the last `
    /// (`, or a parenthesis at the very beginning.
    private static func lastOpening(_ text: Substring) -> Substring.Index? {
        for start in [" (/", " (["] {
            if let range = text.ranges(of: start).last { return range.lowerBound }
        }
        return text.ranges(of: " (").last?.lowerBound ?? (text.first == "(" ? text.startIndex : nil)
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...102).contains(byte) || (65...70).contains(byte)
    }

    /// Removes `+0x13` at the end.
    private static func withoutOffset(_ symbol: Substring) -> String {
        let bytes = Array(symbol.utf8)
        if let plus = bytes.lastIndex(of: UInt8(ascii: "+")), bytes.count > plus + 3,
            bytes[plus + 1] == UInt8(ascii: "0"), bytes[plus + 2] == UInt8(ascii: "x"),
            bytes[(plus + 3)...].allSatisfy(isHex)
        {
            return String(decoding: bytes[..<plus], as: UTF8.self)
        }
        return String(symbol)
    }
}
