// The figures below each verdict: what failed or is open stands first, and what settles it below.

const weightOf = { regression: 0, missed: 0, missing: 1, inconclusive: 2, improved: 3, met: 4, pass: 5, "": 6 };
const kindOf = { regression: "bad", missed: "bad", missing: "open", inconclusive: "open", improved: "good", met: "good", pass: "good" };

function badge(text, verdict) {
    return element("span", { class: "badge " + (kindOf[verdict] ?? "") }, text);
}

function verdictTable(judged, rows, caption) {
    const verdictPlace = judged.columns.findIndex(([title]) => title === "verdict");
    const body = rows.map(([texts, verdict]) => element("tr", {}, texts.map((text, place) => {
        const isText = judged.columns[place][1];
        if (place === 0) return element("th", { scope: "row", class: "text wide" }, text);
        return element("td", { class: isText ? "text" : "" },
            place === verdictPlace && verdict !== "" ? badge(text, verdict) : text);
    })));
    return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
        element("table", {},
            element("caption", {}, caption),
            element("thead", {}, element("tr", {}, judged.columns.map(([title, isText], place) =>
                element("th", { scope: "col", class: (isText ? "text" : "") + (place === 0 ? " wide" : "") }, title)))),
            element("tbody", {}, body)));
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

function showVerdicts() {
    data.verdicts.forEach((judged, index) => {
        const place = document.getElementById("verdict-" + index);
        const asked = judged.rows.filter(([, verdict]) => verdict !== "")
            .map((row, order) => [row, order])
            .sort(([a, x], [b, y]) => (weightOf[a[1]] ?? 6) - (weightOf[b[1]] ?? 6) || x - y).map(([row]) => row);
        const urgent = asked.filter(([, verdict]) => weightOf[verdict] <= 2);
        const others = asked.filter(([, verdict]) => weightOf[verdict] > 2);
        if (asked.length === 0) place.append(element("p", {}, "No rule judges any figure of these runs."));
        if (urgent.length > 0) {
            place.append(verdictTable(judged, urgent.slice(0, mostRowsOfVerdict), "Figures that did not pass"));
            if (urgent.length > mostRowsOfVerdict) {
                place.append(element("p", { class: "hint" },
                    plural(urgent.length - mostRowsOfVerdict, "more figure") + " did not pass; the gate's own table has all."));
            }
        }
        for (const { finding, advice, commands } of judged.settlements) {
            place.append(element("p", {}, finding + "; " + advice + ":"),
                element("pre", { tabindex: 0 }, element("code", {}, ...commands.flatMap((line, place) =>
                    place === 0 ? [line] : [document.createTextNode("\n"), line]))));
        }
        if (others.length > 0) {
            const shown = others.slice(0, mostRowsOfVerdict);
            const title = urgent.length > 0 ? "Figures that passed" : "Figures judged";
            place.append(folded(title + " (" + others.length + ")", () => verdictTable(judged, shown, title),
                urgent.length === 0 && others.length <= 12));
        }
        if (judged.note !== "") place.append(element("p", { class: "hint" }, judged.note));
    });
}
