// The cells: a table a hundred rows at a time, sorted by any column, filtered by words, workload, backend and status.

const pageSize = 100;
const shownFigures = new Set(presentFigures.filter((figure) => figure.shown));

const columns = () => [
    ...(hasRuns ? [{ title: "run", isText: true, key: (row) => data.runs[row.run].name, cell: (row) => data.runs[row.run].name }] : []),
    { title: "cell", isText: true, isName: true, key: (row) => row.cell.index, cell: cellButton },
    { title: "backend", isText: true, key: (row) => data.backends[row.backend], cell: (row) => [backendMark(row.backend), " ", data.backends[row.backend]] },
    ...(hasClasses ? [{ title: "class", isText: true, key: (row) => row.operationClass, cell: (row) => row.operationClass || absent }] : []),
    ...(hasSides ? [{ title: "side", isText: true, key: (row) => row.side, cell: (row) => row.side || absent }] : []),
    ...presentFigures.filter((figure) => shownFigures.has(figure)).map((figure) => ({
        title: figure.label, meaning: figure.meaning, key: (row) => value(row, figure), cell: (row) => figureCell(row, figure),
    })),
    { title: "samples", key: (row) => row.samples, cell: (row) => String(row.samples) },
    { title: "status", isText: true, key: (row) => row.status, cell: statusCell },
];

function backendMark(backend) {
    const [svg, shape] = [document.createElementNS("http://www.w3.org/2000/svg", "svg"),
        document.createElementNS("http://www.w3.org/2000/svg", "path")];
    svg.setAttribute("viewBox", "-6 -6 12 12");
    svg.setAttribute("class", "mark");
    svg.setAttribute("aria-hidden", "true");
    shape.setAttribute("d", markPath(symbol(backend), 5));
    shape.setAttribute("fill", "currentColor");
    svg.append(shape);
    svg.style.color = colour(backend);
    svg.dataset.backend = backend;
    return svg;
}

/** The outline of a mark around 0, as SVG writes paths. */
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
        case "roundRect": return `M${-s},${-s * 0.45}H${s}V${s * 0.45}H${-s}Z`;
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
    const [from, to] = [low(row, figure), high(row, figure)];
    if (number !== null && from !== null && to !== null) {
        const text = figure.unit === "ratio" ? quantity(from, "ratio") + " – " + quantity(to, "ratio") : interval(from, to, number);
        parts.push(element("span", { class: "interval" }, text));
    }
    return parts;
}

function statusCell(row) {
    if (row.status !== "ok") {
        return badge(row.status, ["unsupported", "skipped"].includes(row.status) ? "" : "regression");
    }
    return row.doubtful > 0 ? badge("ok, " + row.doubtful + " doubtful", "inconclusive") : "ok";
}

function showTable() {
    const scroll = document.getElementById("cell-scroll");
    const list = columns();
    const pages = Math.max(1, Math.ceil(shownRows.length / pageSize));
    choice.page = Math.min(choice.page, pages - 1);
    const start = choice.page * pageSize;
    const part = shownRows.slice(start, start + pageSize);
    const head = list.map((column) => {
        const isSorted = choice.sort?.title === column.title;
        const order = isSorted ? (choice.isDescending ? "descending" : "ascending") : undefined;
        return element("th", { scope: "col", class: (column.isText ? "text" : "") + (column.isName ? " wide" : ""), "aria-sort": order },
            element("button", { type: "button", title: column.meaning, onclick: () => sortBy(column), "data-column": column.title },
                column.title, element("span", { class: "arrow", "aria-hidden": "true" }, isSorted ? (choice.isDescending ? " ▼" : " ▲") : "")));
    });
    // A cell's name is said once for the rows that follow each other.
    const isFirst = (index) => index === 0 || part[index - 1].cell !== part[index].cell || part[index - 1].run !== part[index].run;
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
    const caption = element("caption", {}, "One row for each cell and backend. Intervals are of 95 %. A cell's name shows its samples and latencies.");
    scroll.replaceChildren(element("table", {}, caption, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)));
    if (focused !== undefined) {
        for (const button of scroll.querySelectorAll("thead button")) if (button.dataset.column === focused) button.focus();
    }
    const count = shownRows.length === rows.length
        ? plural(rows.length, "row") + " of " + plural(cells.length, "cell")
        : plural(shownRows.length, "row") + " of " + rows.length.toLocaleString("en") + " shown";
    document.getElementById("cell-count").textContent = count + (pages > 1 ? `, ${start + 1}–${start + part.length} below` : "");
    showPager(pages);
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

/** The first press sorts, the second turns the order over, the third brings back that of the files. */
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

/** Calls once the reader has stopped typing. */
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
    if (rows.some((row) => row.doubtful > 0)) statuses.push("doubtful");
    if (statuses.length > 1) {
        const options = [["any status", ""], ...statuses.map((status) => [status, status])];
        tools.append(element("label", { for: "status" }, "Status", select("status", options, (name) => (choice.status = name))));
    }
    tools.append(element("button", { type: "button", class: "download", id: "csv", onclick: () => download("cells.csv", "text/csv", csv(shownRows)) }, "CSV of the rows shown"),
        element("button", { type: "button", class: "download", id: "csv-all", onclick: () => download("summary.csv", "text/csv", csv(rows)) }, "CSV of all rows"));
    const toggles = element("div", { class: "toggles" }, backendOrder.map((backend) => element("button", {
        type: "button", class: "toggle", "aria-pressed": "true", "data-toggle": backend, onclick: () => toggle(backend),
    }, backendMark(backend), data.backends[backend])));
    tools.append(element("fieldset", {}, element("legend", {}, "Backends, here and in all charts"), toggles));
    const boxes = presentFigures.map((figure) => {
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
        element("dl", {}, presentFigures.flatMap((figure) => [element("dt", {}, figure.label), element("dd", {}, figure.meaning)]))));
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
    const heads = presentFigures.flatMap((figure) => figure.interval
        ? [figure.name, figure.name + "_ci_low", figure.name + "_ci_high"] : [figure.name]);
    const head = ["run_id", "workload", "cell_id", "backend", "operation_class", "side", "status", "samples", "doubtful_samples", "ratio_to",
        ...heads, ...parameters.map((name) => "param_" + name)];
    const common = workloads.map((workload) => new Map(workload.common));
    const lines = list.map((row) => {
        const own = new Map(row.cell.parameters);
        return [data.runs[row.run].id, workloads[row.cell.workload].name, row.cell.id, data.backends[row.backend], row.operationClass,
            row.side, row.status, row.samples, row.doubtful, row.ratioTo,
            ...presentFigures.flatMap((figure) => figure.interval ? [value(row, figure), low(row, figure), high(row, figure)] : [value(row, figure)]),
            ...parameters.map((name) => own.get(name) ?? common[row.cell.workload].get(name) ?? "")].map(field).join(",");
    });
    return [head.map(field).join(","), ...lines].join("\n") + "\n";
}
