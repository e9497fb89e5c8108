// The cells: a table of a hundred rows per page, sorted by any column, filtered by words, workload, backend and status.

const pageSize = 100;
// Paper has no pages to turn: all rows are printed, up to this number.
const mostRowsOnPaper = 2000;
let isPrinting = false;
/** The rows without those of one class of operations. */
const wholeRows = rows.filter((row) => row.operationClass === "");
const shownFigures = new Set(figures.filter((figure) => figure.shown || openLoopFigures.includes(figure)));

const columns = () => [
    ...(hasRuns ? [{ title: "run", isText: true, key: (row) => data.runs[row.run].name, cell: (row) => data.runs[row.run].name }] : []),
    { title: "cell", isText: true, isName: true, key: (row) => row.cell.index, cell: cellButton },
    { title: "backend", isText: true, key: (row) => row.backend, cell: backendCell },
    ...(hasAxes ? [{
        title: "axis", isText: true, key: (row) => row.axis, cell: (row) => row.axis || absent,
        meaning: "Declared: the queue keeps the order. By hand: bodies submit their successors. Ratios are within an axis.",
    }] : []),
    ...(hasSides ? [{ title: "side", isText: true, key: (row) => row.side, cell: (row) => row.side || absent }] : []),
    ...figures.filter((figure) => shownFigures.has(figure)).map((figure) => ({
        title: figure.label, meaning: figure.meaning, key: (row) => value(row, figure), cell: (row) => figureCell(row, figure),
    })),
    { title: "samples", isText: true, key: (row) => row.samples, cell: samplesCell },
];

function backendMark(backend) {
    const svg = vector("svg", { viewBox: "-6 -6 12 12", class: "mark", "aria-hidden": "true" },
        vector("path", { d: markPath(symbol(backend), 5), fill: "currentColor" }));
    svg.style.color = colour(backend);
    svg.dataset.backend = backend;
    return svg;
}

/** A backend, or one class of its operations. */
function backendCell(row) {
    const name = [backendMark(row.backend), " ", data.backends[row.backend]];
    return row.operationClass === "" ? name : [...name, element("span", { class: "class" }, row.operationClass)];
}

/** The outline of a mark around 0, as an SVG path. */
function markPath(kind, size) {
    const s = size;
    switch (kind) {
        case "rect": return `M${-s * 0.85},${-s * 0.85}H${s * 0.85}V${s * 0.85}H${-s * 0.85}Z`;
        case "triangle": return `M0,${-s}L${s},${s * 0.8}H${-s}Z`;
        case "arrow": return `M0,${s}L${s},${-s * 0.8}H${-s}Z`;
        case "diamond": return `M0,${-s * 1.15}L${s},0L0,${s * 1.15}L${-s},0Z`;
        case "pin": {
            const [t, u] = [s * 0.33, s];
            return `M${-t},${-u}H${t}V${-t}H${u}V${t}H${t}V${u}H${-t}V${t}H${-u}V${-t}H${-t}Z`;
        }
        case "star": {
            const points = Array.from({ length: 10 }, (_, index) => {
                const [angle, radius] = [index * Math.PI / 5, index % 2 === 0 ? s * 1.25 : s * 0.55];
                return [Math.sin(angle) * radius, -Math.cos(angle) * radius].map((figure) => figure.toFixed(2)).join();
            });
            return `M${points.join("L")}Z`;
        }
        default: return `M${-s},0A${s},${s} 0 1 1 ${s},0A${s},${s} 0 1 1 ${-s},0Z`;
    }
}

function cellButton(row) {
    const name = cellTitle(row.cell);
    return element("button", {
        type: "button", class: "link", title: visible(row.cell.id), onclick: () => showDetail(row.cell, true),
    }, name, element("span", { class: "unseen" }, ": show its samples and latencies"));
}

function figureCell(row, figure) {
    const number = value(row, figure);
    const parts = [quantity(number, figure.unit)];
    const ends = intervalText(row, figure);
    if (ends !== absent) parts.push(" ", element("span", { class: "interval" }, `(${ends})`));
    return parts;
}

/** The number of noisy samples behind the time. */
function noisyTimes(row) {
    let noisy = 0;
    for (let index = 2; index < row.dots.length; index += 3) noisy += row.dots[index];
    return noisy;
}

/** The number of samples behind the time, with a mark if some are noisy. */
function samplesCell(row) {
    if (row.status !== "ok") {
        return badge(row.status, ["unsupported", "skipped"].includes(row.status) ? "" : "regression");
    }
    const marks = [];
    const mark = (words, title) => marks.push(" ", element("span", { title }, badge(words, "inconclusive")));
    const count = noisyTimes(row);
    if (count > 0) mark(count + " noisy", "something else used the machine during these samples of the time");
    else if (row.noisy > 0) mark("other kinds noisy", "something else used the machine during samples of another kind, such as latency");
    if (row.isUnsteady) mark("unsteady", "the rounds of the samples changed their level in more samples than those of other results, beyond chance");
    if (row.modes.length > 0) {
        const [low, high, samples] = row.modes;
        mark("bimodal", `${quantity(low, "ns")} in ${row.samples - samples} samples, ${quantity(high, "ns")} in ${samples}; the median is in one of the two by chance`);
    }
    return [String(row.samples), ...marks];
}

/** A column head that may be broken after its slashes. */
const brokenTitle = (title) => title.split(/(?<=\/)/).flatMap((part, index) => index === 0 ? [part] : [element("wbr"), part]);

const isOfSameCell = (row, other) => row.cell === other.cell && row.run === other.run;

/** The first rows of the pages. Successive rows of a cell stay on one page if they fit. */
function pageStarts() {
    const starts = [0];
    while (starts.at(-1) + pageSize < shownRows.length) {
        const start = starts.at(-1);
        let end = start + pageSize;
        while (end > start && isOfSameCell(shownRows[end - 1], shownRows[end])) end -= 1;
        starts.push(end > start ? end : start + pageSize);
    }
    return starts;
}

function showTable() {
    const scroll = document.getElementById("cell-scroll");
    const list = columns();
    const starts = pageStarts();
    choice.page = Math.min(choice.page, starts.length - 1);
    const start = isPrinting ? 0 : starts[choice.page];
    const part = shownRows.slice(start, isPrinting ? mostRowsOnPaper : starts[choice.page + 1]);
    const head = list.map((column) => {
        const isSorted = choice.sort?.title === column.title;
        const order = isSorted ? (choice.isDescending ? "descending" : "ascending") : undefined;
        return element("th", { scope: "col", class: (column.isText ? "text" : "") + (column.isName ? " wide" : ""), "aria-sort": order },
            element("button", { type: "button", title: column.meaning, onclick: () => sortBy(column), "data-column": column.title },
                brokenTitle(column.title), element("span", { class: "arrow", "aria-hidden": "true" }, isSorted ? (choice.isDescending ? " ▼" : " ▲") : "")));
    });
    // A cell's name is shown once for its successive rows.
    const isFirst = (index) => index === 0 || !isOfSameCell(part[index - 1], part[index]);
    const span = (index) => {
        let end = index + 1;
        while (end < part.length && !isFirst(end)) end += 1;
        return end - index;
    };
    const body = part.map((row, index) => element("tr", { class: isFirst(index) ? "" : "again" }, list.flatMap((column) => {
        if (!column.isName) return [element("td", { class: column.isText ? "text" : "" }, column.cell(row))];
        if (!isFirst(index)) return [];
        const rowspan = span(index);
        return [element("th", { scope: rowspan > 1 ? "rowgroup" : "row", rowspan, class: "text wide" }, column.cell(row))];
    })));
    const focused = document.activeElement?.dataset?.column;
    const caption = element("caption", {}, "Intervals are 95 %.");
    scroll.replaceChildren(element("table", {}, caption, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)));
    if (focused !== undefined) {
        for (const button of scroll.querySelectorAll("thead button")) if (button.dataset.column === focused) button.focus();
    }
    // A class that the filter found by name belongs to all rows.
    const all = choice.hasClasses || shownRows.some((row) => row.operationClass !== "") ? rows : wholeRows;
    const count = shownRows.length === all.length
        ? plural(all.length, "row") + " of " + plural(cells.length, "cell")
        : plural(shownRows.length, "row") + " of " + all.length.toLocaleString("en") + " shown";
    const isPart = part.length < shownRows.length;
    document.getElementById("cell-count").textContent = count + (isPart ? `, ${start + 1}–${start + part.length} below` : "");
    showPager(starts.length);
}

function showAllRows(isForPaper) {
    isPrinting = isForPaper;
    if (rows.length > 0) showTable();
}

function showPager(pages) {
    const pager = document.getElementById("cell-pager");
    pager.hidden = pages === 1;
    const focused = document.activeElement?.dataset?.step;
    const step = (title, name, page) => element("button", {
        type: "button", disabled: page < 0 || page >= pages || page === choice.page, "data-step": name,
        onclick: () => {
            choice.page = page;
            showTable();
        },
    }, title);
    pager.replaceChildren(
        step("First", "first", 0), step("Previous", "previous", choice.page - 1),
        element("span", {}, `page ${choice.page + 1} of ${pages}`),
        step("Next", "next", choice.page + 1), step("Last", "last", pages - 1));
    if (focused !== undefined) pager.querySelector(`[data-step="${focused}"]:not(:disabled)`)?.focus();
}

/** The first press sorts, the second reverses the order, the third restores the order of the files. */
function sortBy(column) {
    const isSame = choice.sort?.title === column.title;
    if (isSame && choice.isDescending) choice.sort = null;
    else {
        choice.isDescending = isSame;
        choice.sort = column;
    }
    choice.page = 0;
    choose();
}

/** Calls `work` after the reader has stopped typing. */
function settled(work, milliseconds = 120) {
    let timer = 0;
    return () => {
        clearTimeout(timer);
        timer = setTimeout(work, milliseconds);
    };
}

function showCellTools() {
    const rerun = () => {
        choice.page = 0;
        choose();
    };
    const search = element("input", { type: "search", id: "filter", placeholder: "words, such as work_ns=100 engine", autocomplete: "off", spellcheck: "false" });
    const typed = settled(() => {
        choice.text = search.value;
        rerun();
    });
    search.addEventListener("input", typed);
    const select = (id, options, chosen) => {
        const made = element("select", { id }, options.map(([text, name]) => element("option", { value: name }, text)));
        made.addEventListener("change", () => {
            chosen(made.value);
            rerun();
        });
        return made;
    };
    const tools = document.getElementById("cell-tools");
    tools.append(element("label", { for: "filter" }, "Filter", search));
    if (workloads.length > 1) {
        const options = [["all workloads", "-1"], ...workloads.map((workload, index) => [workload.name, String(index)])];
        tools.append(element("label", { for: "workload" }, "Workload", select("workload", options, (name) => (choice.workload = Number(name)))));
    }
    const statuses = [...new Set(rows.map((row) => row.status))].sort();
    if (rows.some((row) => row.noisy > 0)) statuses.push("noisy");
    if (statuses.length > 1) {
        const options = [["any status", ""], ...statuses.map((status) => [status, status])];
        tools.append(element("label", { for: "status" }, "Status", select("status", options, (name) => (choice.status = name))));
    }
    if (wholeRows.length < rows.length) {
        const box = element("input", { type: "checkbox", id: "with-classes" });
        box.addEventListener("change", () => {
            choice.hasClasses = box.checked;
            rerun();
        });
        tools.append(element("label", { class: "tick" }, box, "Rows of each class, such as " + rows.find((row) => row.operationClass !== "").operationClass));
    }
    tools.append(element("button", { type: "button", class: "download", id: "csv", onclick: () => download("cells.csv", "text/csv", csv(shownRows)) }, "CSV of visible rows"),
        element("button", { type: "button", class: "download", id: "csv-all", onclick: () => download("summary.csv", "text/csv", csv(rows)) }, "CSV of all rows"));
    const boxes = figures.map((figure) => {
        const box = element("input", { type: "checkbox", checked: shownFigures.has(figure) });
        box.addEventListener("change", () => {
            if (box.checked) shownFigures.add(figure);
            else shownFigures.delete(figure);
            showTable();
        });
        return element("label", { title: figure.meaning }, box, figure.label);
    });
    tools.append(element("details", { style: "width: 100%" }, element("summary", {}, "Columns and what they mean"),
        element("div", { class: "columns" }, boxes),
        element("dl", {}, figures.flatMap((figure) => [element("dt", {}, figure.label), element("dd", {}, figure.meaning)]))));
}

/** One legend for the table and all charts, which stays in view. */
function showLegend() {
    const bar = document.getElementById("legend");
    bar.hidden = false;
    bar.append(...backendOrder.map((backend) => element("button", {
        type: "button", class: "toggle", "aria-pressed": "true", "data-toggle": backend, onclick: () => toggle(backend),
    }, backendMark(backend), data.backends[backend])));
    const held = hasSides ? "base" : hasRuns ? data.runs[0].name : "";
    if (held !== "") bar.append(element("span", { class: "muted" }, "hollow: " + held));
}

function toggle(backend) {
    if (choice.hidden.has(backend)) choice.hidden.delete(backend);
    else choice.hidden.add(backend);
    for (const button of document.querySelectorAll(`[data-toggle="${backend}"]`)) {
        button.setAttribute("aria-pressed", String(!choice.hidden.has(backend)));
    }
    choice.page = 0;
    choose();
}

/** Rows with all their figures under the names of summary.csv, to nine digits. */
function csv(list) {
    const parameters = [...new Set(workloads.flatMap(({ varying, common }) => [...varying, ...common.map(([name]) => name)]))].sort();
    const heads = figures.flatMap((figure) => figure.interval
        ? [figure.name, figure.name + "_ci_low", figure.name + "_ci_high"] : [figure.name]);
    const head = ["run_id", "workload", "cell_id", "backend", "operation_class", "side", "status", "samples", "noisy_samples", "ratio_to", "axis",
        "low_mode_ns_per_op", "high_mode_ns_per_op", "high_mode_samples",
        ...heads, ...parameters.map((name) => "param_" + name)];
    const common = workloads.map((workload) => new Map(workload.common));
    const lines = list.map((row) => {
        const own = new Map(row.cell.parameters);
        return [data.runs[row.run].id, workloads[row.cell.workload].name, row.cell.id, data.backends[row.backend], row.operationClass,
            row.side, row.status, row.samples, row.noisy, row.ratioTo, row.axis.replace(" ", "_"), ...[0, 1, 2].map((place) => row.modes[place] ?? ""),
            ...figures.flatMap((figure) => figure.interval ? [value(row, figure), low(row, figure), high(row, figure)] : [value(row, figure)]),
            ...parameters.map((name) => own.get(name) ?? common[row.cell.workload].get(name) ?? "")].map(field).join(",");
    });
    return [head.map(field).join(","), ...lines].join("\n") + "\n";
}
