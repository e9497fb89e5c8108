// Assembles the page, and adapts it to the window, the theme and the printer.

function showEnvironment() {
    const known = data.runs.filter((run) => run.facts.length > 0);
    if (known.length === 0) return;
    document.getElementById("environment").hidden = false;
    const body = document.getElementById("environment-body");
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
    if (files.length === 0) return;
    document.getElementById("workloads").hidden = false;
    const body = document.getElementById("workloads-body");
    for (const { name, file, text } of files) {
        const lines = text.replaceAll("\t", "    ").split("\n").flatMap((line, index) => index === 0 ? [line] : [document.createTextNode("\n"), line]);
        body.append(folded(name + " (" + file + ")", () => element("pre", { tabindex: 0 }, element("code", {}, ...lines)), files.length === 1));
    }
}

function showContents() {
    const list = document.getElementById("contents");
    for (const one of document.querySelectorAll("main section")) {
        if (!one.hidden) list.append(element("li", {}, element("a", { href: "#" + one.id }, one.querySelector("h2").textContent)));
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
    addEventListener("beforeprint", () => {
        theme = document.documentElement.dataset.theme;
        for (const box of document.querySelectorAll("#workloads details, #environment details")) box.open = true;
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
        paint();
    });
}

document.getElementById("maker").textContent = visible(data.maker);
showVerdicts();
if (data.backends.length > 0) showLegend();
if (rows.length > 0) {
    document.getElementById("cells").hidden = false;
    showCommon();
    showCellTools();
    showTable();
    listeners.push(showTable);
} else if (data.trends.length === 0) {
    sections.append(element("p", {}, "The runs have no rows to show."));
}
showTrends();
showDifferences();
showByCell();
showOneCell();
showSweeps();
showEnvironment();
showWorkloads();
showContents();
listeners.push(() => panels.forEach((panel) => panel.renew()));
watchTheme();
watchPrinter();
paint();
addEventListener("resize", settled(() => panels.forEach((panel) => panel.resize()), 150));
document.documentElement.dataset.ready = "true";
