/// What a scenario is given: the arguments after its name. It returns if it passed, and calls `expect` or `fail` if not.
typealias Scenario = @Sendable (_ arguments: [String]) -> Void

/// Every scenario by its name, one file each in Scenarios/.
let scenarios: [String: Scenario] = [
    "first-operations": firstOperations
]
