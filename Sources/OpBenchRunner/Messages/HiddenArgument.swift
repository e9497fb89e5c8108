/// What the parent calls this program by when it wants something of it that is no user's. No command has such a name.
enum HiddenArgument {
    /// Be the process of one sample: a `SampleRequest` on standard input, a `SampleReport` in an `AnswerRecord`
    /// on standard output.
    static let sample = "__sample"
    /// Say what build this is: a `BuildDescription` in an `AnswerRecord`.
    static let describe = "__describe"
    /// Be limited, and become another program: see `LimitedProgram`.
    static let limited = "__limited"
}
