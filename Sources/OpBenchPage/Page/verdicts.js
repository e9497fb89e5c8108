// The figures below each verdict: failed and inconclusive ones first, and remedies below.

const weightOf = { regression: 0, missed: 0, missing: 1, inconclusive: 2, improved: 3, met: 4, pass: 5, "": 6 };
const kindOf = { regression: "bad", missed: "bad", missing: "open", inconclusive: "open", improved: "good", met: "good", pass: "good" };

function badge(text, verdict) {
    return element("span", { class: "badge " + (kindOf[verdict] ?? "") }, text);
}

/** The verdict and, below it, the reason if it is inconclusive. */
function verdictCell(text, verdict) {
    if (verdict === "" || !text.startsWith(verdict)) return text;
    const reason = text.slice(verdict.length).replace(/^: /, "");
    return [badge(verdict, verdict), reason === "" ? null : element("span", { class: "reason" }, reason)];
}

/** The verdict comes first; figures that explain it are shown on request. */
function verdictTable(judged, rows, caption) {
    const verdictPlace = judged.columns.findIndex(([title]) => title === "verdict");
    const places = judged.columns.map((_, place) => place).filter((place) => place !== verdictPlace);
    if (verdictPlace >= 0) places.unshift(verdictPlace);
    const kindOfColumn = (place) => [judged.columns[place][1] ? "text" : "", judged.columns[place][2] ? "detail" : "",
        place === 0 ? "wide" : ""].filter((name) => name !== "").join(" ");
    const body = rows.map(([texts, verdict]) => element("tr", {}, places.map((place) => {
        if (place === 0) return element("th", { scope: "row", class: kindOfColumn(place) }, texts[place]);
        return element("td", { class: kindOfColumn(place) }, place === verdictPlace ? verdictCell(texts[place], verdict) : texts[place]);
    })));
    const table = element("table", {},
        element("caption", {}, caption),
        element("thead", {}, element("tr", {}, places.map((place) =>
            element("th", { scope: "col", class: kindOfColumn(place) }, judged.columns[place][0])))),
        element("tbody", {}, body));
    const details = judged.columns.filter(([, , isDetail]) => isDetail).map(([title]) => title);
    const box = details.length === 0 ? [] : [element("div", { class: "controls" },
        tick("show " + details.join(", "), (isChosen) => table.classList.toggle("detailed", isChosen)))];
    return element("div", {}, element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table), box);
}

/** Tables of many rows are made when they are opened. */
function folded(title, make, isOpen = false) {
    const box = element("details", {}, element("summary", {}, title));
    let isMade = false;
    const fill = () => {
        if (isMade || !box.open) return;
        isMade = true;
        box.append(make());
    };
    box.addEventListener("toggle", fill);
    // The event comes too late for the printer.
    addEventListener("beforeprint", () => setTimeout(fill));
    if (isOpen) {
        box.open = true;
        fill();
    }
    return box;
}

const mostRowsOfVerdict = 200;

/** The number of rows that a table leaves out. */
function hiddenRows(list, what) {
    if (list.length <= mostRowsOfVerdict) return [];
    const count = plural(list.length - mostRowsOfVerdict, "more figure");
    return [element("p", { class: "hint" }, count + " " + what + "; the gate's table has them all.")];
}

function showVerdicts() {
    data.verdicts.forEach((judged, index) => {
        const place = document.getElementById("verdict-" + index);
        const asked = judged.rows.filter(([, verdict]) => verdict !== "")
            .map((row, order) => [row, order])
            .sort(([a, x], [b, y]) => (weightOf[a[1]] ?? 6) - (weightOf[b[1]] ?? 6) || x - y).map(([row]) => row);
        const urgent = asked.filter(([, verdict]) => weightOf[verdict] <= 2);
        const others = asked.filter(([, verdict]) => weightOf[verdict] > 2);
        if (asked.length === 0) place.append(element("p", {}, "No rule matches a figure of these runs."));
        if (urgent.length > 0) {
            place.append(verdictTable(judged, urgent.slice(0, mostRowsOfVerdict), "Figures that did not pass"));
            place.append(...hiddenRows(urgent, "did not pass"));
        }
        for (const remedy of judged.remedies) place.append(element("p", {}, remedy));
        if (others.length > 0) {
            const title = urgent.length > 0 ? "Figures that passed" : "Figures judged";
            place.append(folded(title + " (" + others.length + ")", () => element("div", {},
                verdictTable(judged, others.slice(0, mostRowsOfVerdict), title), hiddenRows(others, "passed")),
                urgent.length === 0 && others.length <= 12));
        }
        if (judged.note !== "") place.append(element("p", { class: "hint" }, judged.note));
    });
}
