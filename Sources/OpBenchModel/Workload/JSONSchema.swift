/// The published JSON Schema (2020-12) of workload files.
public enum JSONSchema {
    public static func workload() -> String { JSONText.write(JSONValue(.object([]))) }
}
