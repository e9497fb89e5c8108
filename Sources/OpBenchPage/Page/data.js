// The rows from the JSON data, and the reader's choices among them, which table and charts follow.

const data = JSON.parse(document.getElementById("data").textContent);

/** The figures that some row has. */
const figures = data.figures;
{
    let place = 0;
    for (const figure of figures) {
        figure.place = place;
        place += figure.interval ? 3 : 1;
    }
}
const figureNamed = (name) => figures.find((figure) => figure.name === name);
/** In an open loop, the latency from the intended start is the one that includes the wait before a late submission. */
const openLoopFigures = ["intended_latency_p50_ns", "intended_latency_p99_ns"].map(figureNamed).filter((figure) => figure !== undefined);
const ratio = figureNamed("time_ratio");
{
    const baselines = new Set(data.rows.map((row) => row[8]).filter((name) => name !== ""));
    if (ratio !== undefined && baselines.size > 0) ratio.label = "time ÷ " + [...baselines].sort().join(" or ");
}

const workloads = data.workloads;
/** A cell: its workload, its id, and the parameters in which it differs from the workload's other cells. */
const cells = data.cells.map(([workload, id, ...values], index) => {
    const names = workloads[workload].varying;
    const parameters = names.map((name, place) => [name, values[place]]).filter(([, value]) => value !== "");
    return { index, workload, id, parameters, label: parameters.map(([name, value]) => name + "=" + value).join(" ") };
});

const rows = data.rows.map((row, index) => {
    const [run, cell, backend, operationClass, side, status, samples, noisy, ratioTo, axis, values, dots, isUnsteady, modes] = row;
    return { index, run, cell: cells[cell], backend, operationClass, side, status, samples, noisy, ratioTo, axis, values, dots, isUnsteady: isUnsteady === 1, modes };
});
// A figure that no row has is undefined here.
const value = (row, figure) => row.values[figure?.place] ?? null;
const low = (row, figure) => (figure?.interval ? row.values[figure.place + 1] ?? null : null);
const high = (row, figure) => (figure?.interval ? row.values[figure.place + 2] ?? null : null);

const hasSides = rows.some((row) => row.side !== "");
/** Whether operations of some cell have an order, which backends keep on one axis or the other. */
const hasAxes = rows.some((row) => row.axis !== "");
const hasRuns = data.runs.length > 1;

/** The names that distinguish rows of one backend: the run, the side, the class. */
function variant(row) {
    return [hasRuns ? data.runs[row.run].name : "", row.side, row.operationClass].filter((part) => part !== "").join(" · ");
}

/** A colour that colour-blind readers can distinguish (Okabe and Ito), lighter on a dark page, and a mark that
 * distinguishes without colour. */
const styles = (() => {
    const own = {
        engine: ["#0072B2", "#56A8E0", "circle"], dispatch: ["#D55E00", "#FF8A3D", "rect"],
        foundation: ["#009E73", "#2FC79B", "triangle"], concurrency: ["#B5588F", "#E39AC6", "diamond"],
        serial: ["#333333", "#D0D0D0", "pin"],
    };
    const others = [
        ["#B07800", "#E6A700", "star"], ["#2F87B7", "#8FD0F5", "arrow"], ["#777777", "#A9A9A9", "circle"],
        ["#7B4FA3", "#BB94E0", "rect"], ["#8A6D3B", "#C9A96E", "triangle"], ["#3D7A22", "#8CCB6F", "diamond"],
    ];
    let next = 0;
    return data.backends.map((name) => own[name] ?? others[next++ % others.length]);
})();
const isDark = () => document.documentElement.dataset.theme === "dark";
const colour = (backend) => styles[backend][isDark() ? 1 : 0];
const symbol = (backend) => styles[backend][2];

/** The order in the files, used everywhere. */
const backendOrder = data.backends.map((_, index) => index);

/** The reader's choices. */
const choice = {
    text: "", workload: -1, status: "", hidden: new Set(), hasClasses: false,
    sort: null, isDescending: false, page: 0, cell: null,
};
/** Callbacks after the visible rows have changed. */
const listeners = [];
let shownRows = rows.filter((row) => isShown(row, []));

/** Rows of one class of a cell's operations are shown on request: by the checkbox, or by a word of the class's name. */
function isFolded(row, words) {
    if (row.operationClass === "" || choice.hasClasses) return false;
    const name = row.operationClass.toLowerCase();
    return !words.some((word) => name.includes(word));
}

function isShown(row, words) {
    if (choice.workload >= 0 && row.cell.workload !== choice.workload) return false;
    if (choice.hidden.has(row.backend)) return false;
    if (choice.status === "noisy" ? row.noisy === 0 : choice.status !== "" && row.status !== choice.status) return false;
    if (isFolded(row, words)) return false;
    if (words.length === 0) return true;
    row.text ??= [row.cell.id, row.cell.label, data.backends[row.backend], row.operationClass, row.side,
        hasRuns ? data.runs[row.run].name : ""].join(" ").toLowerCase();
    return words.every((word) => row.text.includes(word));
}

/** Selects rows again, and calls the listeners. */
function choose() {
    const words = choice.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
    shownRows = rows.filter((row) => isShown(row, words));
    if (choice.sort !== null) sortRows();
    for (const listener of listeners) listener();
}

const collator = new Intl.Collator("en", { numeric: true });

function sortRows() {
    const key = choice.sort.key;
    const sign = choice.isDescending ? -1 : 1;
    const keyed = shownRows.map((row) => [key(row), row]);
    // Absent values come last in both directions.
    keyed.sort(([a, one], [b, other]) => {
        if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0) || one.index - other.index;
        const order = typeof a === "number" ? a - b : collator.compare(a, b);
        return order * sign || one.index - other.index;
    });
    shownRows = keyed.map(([, row]) => row);
}

/** The cells of the visible rows, in order, without repetitions. */
function shownCells() {
    const seen = new Set();
    const result = [];
    for (const row of shownRows) {
        if (seen.has(row.cell.index)) continue;
        seen.add(row.cell.index);
        result.push(row.cell);
    }
    return result;
}

const rowsOfCell = new Map();
for (const row of rows) {
    if (!rowsOfCell.has(row.cell.index)) rowsOfCell.set(row.cell.index, []);
    rowsOfCell.get(row.cell.index).push(row);
}

/** The rows of a cell that charts draw, by backend. */
function drawnRows(cell, isOfWhole = true) {
    return (rowsOfCell.get(cell.index) ?? [])
        .filter((row) => !choice.hidden.has(row.backend) && (!isOfWhole || row.operationClass === ""))
        .sort((a, b) => a.backend - b.backend || a.index - b.index);
}

/** The title of a cell, with its workload if there are several. */
function cellTitle(cell) {
    const name = workloads[cell.workload].name;
    return cell.label === "" ? name : workloads.length > 1 ? name + ": " + cell.label : cell.label;
}
