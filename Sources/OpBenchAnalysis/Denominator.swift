import OpBenchModel

/// The backend that another's times are divided by, in one cell.
///
/// Ratios are taken within an axis: if the baseline is on the other, its first form, by name, that was measured on this one
/// replaces it, as `dispatch:notify` replaces `dispatch`. Without such a form the ratio is across the axes, and marked.
struct Denominator {
    private let baseline: BackendID
    private let axis: Axis?
    private let formOnOtherAxis: BackendID?

    /// - Parameter axes: of the cell's backends.
    init(_ baseline: BackendID, _ axes: [BackendID: Axis]) {
        self.baseline = baseline
        let own = axes[baseline]
        axis = own
        formOnOtherAxis =
            axes.filter { $0.key.rawValue.hasPrefix("\(baseline.rawValue):") && $0.value != own }.keys
            .min { $0.rawValue < $1.rawValue }
    }

    func of(_ axis: Axis?) -> BackendID {
        guard let axis, let own = self.axis, axis != own else { return baseline }
        return formOnOtherAxis ?? baseline
    }
}
