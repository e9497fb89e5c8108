/// How a sample, or the attempt at one, ended.
public enum SampleStatus: String, CaseIterable, Sendable, Codable {
    case ok, invalid, timeout, crashed, unsupported, skipped
}
