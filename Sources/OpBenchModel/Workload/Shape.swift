/// What a workload does; each shape has its own parameters (`ShapeDefinition`).
public enum Shape: String, CaseIterable, Sendable, Codable {
    case independent
    case chain
    case graph
    case priorityMix = "priority_mix"
    case threadPriority = "thread_priority"
    case suspendResume = "suspend_resume"
    case wakeup
    case openLoop = "open_loop"
    case cancelStorm = "cancel_storm"
    case blocking
    case memoryFence = "memory_fence"
    case observers
    case barriers
    case blockGroups = "block_groups"
    case asynchronous
    case manualStart = "manual_start"
    case sequence
}
