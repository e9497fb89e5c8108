// Assembles the page, and adapts it to the window, the theme and the printer.

function showAbout() {
    const known = data.runs.filter((run) => run.facts.length > 0);
    if (known.length === 0) return;
    const body = document.getElementById("about");
    body.hidden = false;
    if (known.length > 1) body.querySelector("summary").textContent = "About these runs";
    for (const run of known) {
        const list = element("dl", {}, run.facts.flatMap(([label, text]) => [element("dt", {}, label), element("dd", {}, text)]));
        body.append(known.length > 1 ? element("details", { open: known.length <= 2 }, element("summary", {}, run.name), list) : list);
    }
}

function showWorkloads() {
    const seen = new Set();
    const files = data.runs.flatMap((run) => run.files).filter(({ file, text }) => {
        const key = file + "\n" + text;
        return seen.has(key) ? false : seen.add(key);
    });
    const body = document.getElementById("workloads");
    body.hidden = workloads.length + files.length === 0;
    body.append(...workloads.map(({ name, common }) => element("p", {}, element("strong", {}, name), ...common.map(([parameter, text]) => " " + parameter + "=" + text))));
    for (const { name, file, text } of files) {
        const lines = text.replaceAll("\t", "    ").split("\n").flatMap((line, index) => index === 0 ? [line] : [document.createTextNode("\n"), line]);
        body.append(folded(name + " (" + file + ")", () => element("pre", { tabindex: 0 }, element("code", {}, ...lines)), files.length === 1));
    }
}

/** Names the theme that a press of the button selects. */
function nameThemeButton() {
    document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
}

function paint() {
    nameThemeButton();
    for (const mark of document.querySelectorAll(".mark[data-backend]")) mark.style.color = colour(Number(mark.dataset.backend));
    for (const panel of panels) panel.renew();
}

function watchTheme() {
    const preferred = matchMedia("(prefers-color-scheme: dark)");
    let isChosen = false;
    nameThemeButton();
    document.getElementById("theme").addEventListener("click", () => {
        isChosen = true;
        document.documentElement.dataset.theme = isDark() ? "light" : "dark";
        paint();
    });
    preferred.addEventListener("change", () => {
        if (isChosen) return;
        document.documentElement.dataset.theme = preferred.matches ? "dark" : "light";
        paint();
    });
}

/** On paper all charts are drawn, in light colours and at the paper's width. */
function watchPrinter() {
    const widthOfPaper = 680;
    let theme = "light";
    let closed = [];
    addEventListener("beforeprint", () => {
        theme = document.documentElement.dataset.theme;
        for (const box of document.querySelectorAll("main details")) {
            if (!box.open) closed.push(box);
            box.open = true;
        }
        document.documentElement.dataset.theme = "light";
        showAllRows(true);
        for (const panel of panels) {
            panel.isStale = true;
            panel.drawIfStale(widthOfPaper);
        }
    });
    addEventListener("afterprint", () => {
        document.documentElement.dataset.theme = theme;
        showAllRows(false);
        for (const box of closed) box.open = false;
        closed = [];
        paint();
    });
}

document.getElementById("maker").textContent = visible(data.maker);
showVerdicts();
if (data.backends.length > 0) showLegend();
if (rows.length > 0) {
    document.getElementById("cells").hidden = false;
    showCellTools();
    showTable();
    listeners.push(showTable);
}
if (openingFigures.length === 0 && data.trends.length === 0) sections.append(element("p", {}, "No cell was measured."));
showDifferences();
showByCell();
showOneCell();
showSweeps();
showTrends();
showAbout();
showWorkloads();
listeners.push(() => panels.forEach((panel) => panel.renew()));
watchTheme();
watchPrinter();
paint();
addEventListener("resize", settled(() => panels.forEach((panel) => panel.resize()), 150));
document.documentElement.dataset.ready = "true";
