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
        element("caption", { class: "unseen" }, caption),
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
        if (isMade) return;
        isMade = true;
        box.append(make());
    };
    box.addEventListener("toggle", fill);
    // Paper has no folds, and the toggle event comes too late for it.
    addEventListener("beforeprint", fill);
    if (isOpen) {
        box.open = true;
        fill();
    }
    return box;
}

const mostRowsOfVerdict = 200;
/** A longer table is folded, unless its figures failed. */
const mostOpenRows = 12;

function verdictTables(judged, title, list, isOpen) {
    if (list.length === 0) return [];
    const more = list.length - mostRowsOfVerdict;
    return [folded(`${title} (${list.length})`, () => element("div", {}, verdictTable(judged, list.slice(0, mostRowsOfVerdict), title),
        more > 0 ? element("p", { class: "hint" }, plural(more, "more figure") + "; the gate's table has them all.") : null), isOpen)];
}

function showVerdicts() {
    data.verdicts.forEach((judged, index) => {
        const place = document.getElementById("verdict-" + index);
        const asked = judged.rows.filter(([, verdict]) => verdict !== "")
            .map((row, order) => [row, order])
            .sort(([a, x], [b, y]) => (weightOf[a[1]] ?? 6) - (weightOf[b[1]] ?? 6) || x - y).map(([row]) => row);
        const ofWeight = (from, to) => asked.filter(([, verdict]) => weightOf[verdict] >= from && weightOf[verdict] <= to);
        const [failed, open, others] = [ofWeight(0, 0), ofWeight(1, 2), ofWeight(3, 5)];
        if (asked.length === 0) place.append(element("p", {}, "No rule matches a figure of these runs."));
        place.append(...verdictTables(judged, "Figures that failed", failed, true),
            ...verdictTables(judged, "Missing or inconclusive figures", open, open.length <= mostOpenRows),
            ...judged.remedies.map((remedy) => element("p", {}, remedy)),
            ...verdictTables(judged, "Figures that passed", others, failed.length + open.length === 0 && others.length <= mostOpenRows));
    });
}
