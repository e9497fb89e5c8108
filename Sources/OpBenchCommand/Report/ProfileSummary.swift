import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// What a terminal shows of the profiles of one cell on one backend: figures first, then the files.
struct ProfileSummary {
    private let profiled: ProfiledCell

    init(_ profiled: ProfiledCell) { self.profiled = profiled }

    var text: String {
        let (target, plain) = (profiled.target, profiled.plain)
        var lines = [
            "\(target.cell.id) on \(target.backend.rawValue)",
            "  unprofiled: \(Quantities.duration(nanoseconds: plain.timePerOperation)) an operation, "
                + "\(Quantities.duration(nanoseconds: plain.cpuPerOperation)) of CPU time, "
                + "\(plain.operations) operations in \(plain.rounds) \(plain.rounds == 1 ? "round" : "rounds")",
        ]
        if !plain.note.isEmpty { lines.append("  \(plain.note)") }
        for section in profiled.sections { lines += Self.lines(of: section) }
        if let folder = profiled.folder {
            lines += ["", "files in \(folder):"]
            for section in profiled.sections where !section.files.isEmpty {
                lines.append("  \(section.files.joined(separator: ", "))")
            }
        }
        let escaped = lines.map {
            TerminalText.escaped($0, limit: TerminalText.messageLimit, keepsScopes: true)
        }
        return escaped.joined(separator: "\n") + "\n\n"
    }

    private static func lines(of section: ProfileSection) -> [String] {
        let kind = section.kind.rawValue
        switch section.lack {
        case .impossible(let reason): return ["", "\(kind): not here: \(reason)"]
        case .failed(let reason): return ["", "\(kind): failed: \(reason)"]
        case nil: break
        }
        var title = "\(kind), by \(section.means)"
        if let perturbation = section.perturbation {
            title += ": \(Quantities.ratio(perturbation)) the time without"
            if section.isPerturbed {
                let limit = Quantities.ratio(ProfileSection.mostPerturbation)
                title += ", more than \(limit): its counts hold, its times do not"
            }
        }
        return ["", title] + section.lines.map { "  \($0)" }
    }
}
