import Foundation
import OpBenchModel

extension SampleReport {
    /// The report of a process; where it did not come to answer, how it ended.
    init(_ result: ChildResult, timeoutSeconds: Double, limits: SampleLimits = .none) {
        self.init()
        switch result.ending {
        case .timedOut:
            status = .timeout
            notes = "ended after \(timeoutSeconds) s"
            note(limits.note(onFailure: result.diagnostics))
        case .signaled(let signal):
            status = .crashed
            notes = SignalName.of(signal)
            note(Self.lastWords(result.diagnostics))
            note(limits.note(onFailure: result.diagnostics))
        case .exited(let code):
            let answer = AnswerRecord.json(in: result.output)
            if code == 0, let report = try? JSONDecoder().decode(SampleReport.self, from: answer) {
                self = report
                return
            }
            status = .crashed
            notes = "exit status \(code)"
            note(Self.lastWords(result.diagnostics))
            note(limits.note(onFailure: result.diagnostics))
        }
    }

    /// The first line that a crash left on standard error, shortened, and such that the row can be read again.
    private static func lastWords(_ diagnostics: String) -> String {
        let line = diagnostics.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) }
        return StreamSafeText.made(of: String(decoding: (line ?? "").utf8.prefix(400), as: UTF8.self))
    }
}
