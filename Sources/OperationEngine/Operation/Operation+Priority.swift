extension Operation {
    /// How urgent an operation is among the ready ones of its queue (contract G1).
    public enum QueuePriority: Int, Sendable, CaseIterable {
        /// After all others.
        case veryLow = -8
        /// After the normal ones.
        case low = -4
        /// The default.
        case normal = 0
        /// Before the normal ones.
        case high = 4
        /// Before all others.
        case veryHigh = 8

        /// The nearest level towards `normal`: −10 and −8 give `veryLow`, −3 and 3 give `normal`, 7 gives `high`
        /// (contract G2).
        public init(clamping rawValue: Int) {
            switch rawValue {
            case ...(-8): self = .veryLow
            case ...(-4): self = .low
            case ..<4: self = .normal
            case ..<8: self = .high
            default: self = .veryHigh
            }
        }

        var level: PriorityLevel { PriorityLevel(rawValue: UInt8((rawValue + 8) / 4)) }

        init(level: PriorityLevel) { self.init(clamping: Int(level.rawValue) * 4 - 8) }
    }

    /// Sets `queuePriority` from any number, rounded towards normal to the nearest level (contract G2).
    public func setQueuePriority(rawValue: Int) { queuePriority = QueuePriority(clamping: rawValue) }
}

extension Operation {
    /// Takes over the band of the queue to which the operation is being added. It counts for an operation with neither
    /// a quality of service nor a thread priority of its own (contract P13).
    func adopt(_ band: NiceBand) {
        if MethodOverride.start.isPresent(in: self) { return }
        lock.withLock {
            let hasOwn =
                details.map { $0.threadPriority != nil || $0.qualityOfService ?? .default != .default } ?? false
            if !hasOwn { _ = state.setBand(band) }
        }
    }

    /// The band for a quality of service. An overridden `start` runs in the normal band (contract H4).
    func band(of quality: QualityOfService) -> NiceBand {
        MethodOverride.start.isPresent(in: self) ? .normal : quality.band
    }
}
