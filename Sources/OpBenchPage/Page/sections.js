// Common to the sections of charts: names along an axis, and the reference line.

const sections = document.getElementById("charts");
const isNarrow = (width) => width < 560;
const names = (backend) => data.backends[backend];

/** A section; without a title, its charts have the headings. */
function section(id, title = "") {
    const made = element("section", { id }, title === "" ? null : element("h2", {}, title));
    sections.append(made);
    return made;
}

/** The height of a line that holds a name, which is broken if it is too long. */
function roomFor(labels, width) {
    const most = Math.max(...labels.map((label) => label.length));
    return Math.ceil(most * 7.2 / (nameRoom(width) - 14)) * 14 + 10;
}

const nameRoom = (width) => (isNarrow(width) ? Math.round(width * 0.36) : Math.min(340, Math.round(width * 0.3)));

/** The axis of names along the left side, from top to bottom. */
function nameAxis(labels, width) {
    const room = nameRoom(width);
    return {
        room,
        option: {
            type: "category", data: labels.map((_, index) => index), inverse: true,
            axisLabel: { formatter: (_, index) => visible(labels[index] ?? ""), interval: 0, width: room - 14, overflow: "break", lineHeight: 14, color: css("--text"), fontSize: 12 },
            axisTick: { show: false }, axisLine: { lineStyle: { color: css("--line") } },
            splitLine: { show: true, lineStyle: { color: css("--line"), opacity: 0.45 } },
        },
    };
}

/** A vertical reference line, through a series without points. */
function referenceLine(at, words) {
    return {
        type: "scatter", data: [], silent: true, tooltip: { show: false },
        markLine: {
            symbol: "none", silent: true, animation: false, data: [{ xAxis: at }],
            lineStyle: { color: css("--muted"), type: "solid", width: 1.2 },
            label: { formatter: words, color: css("--muted"), position: "start", distance: 4, show: words !== "" },
        },
    };
}

const withVariant = (row) => [names(row.backend), variant(row)].filter((part) => part !== "").join(" · ");

/** Hollow marks belong to the reference side or run. */
const isHollow = (row) => row.side === "base" || (hasRuns && row.run === 0);

/** Whether most samples behind a time are noisy: its interval is dashed. */
function isNoisy(row, figure) {
    if (figure === undefined || !["ns", "1/s", "1"].includes(figure.unit)) return false;
    return noisyTimes(row) * 6 > row.dots.length;
}

/** The backends of cells, in order, including hidden ones. */
function backendsOf(list) {
    const found = new Set(list.flatMap((cell) => rowsOfCell.get(cell.index) ?? []).map((row) => row.backend));
    return backendOrder.filter((backend) => found.has(backend));
}
