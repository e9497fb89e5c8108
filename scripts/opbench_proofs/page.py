"""Pages of `opbench report` in a real Chromium."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = "/usr/bin/chromium"
# How long a page of 10,000 cells may take, from the first byte to a table that can be used.
OPEN_LIMIT_MS = 1000
MANY_CELLS = 10_000
HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img/src=x/onerror=window.hacked=2>",
    "\"'><svg/onload=window.hacked=3>",
    "a\u2028b\u202ec&lt;d",
    "{{data}}${window.hacked=4}",
]
LOOKS: dict[str, dict[str, object]] = {
    "light": {}, "dark": {"color_scheme": "dark"}, "narrow": {"viewport": {"width": 400, "height": 800}},
}
WORKLOADS = {
    "sweep": {
        "name": "sweep", "summary": "s", "shape": "independent",
        "parameters": {"items": [50, 100, 200, 400], "work_ns": [0, 100]}, "backends": ["engine", "dispatch", "serial"],
    },
    "chain": {
        "name": "chain", "summary": "s", "shape": "chain", "parameters": {"depth": 30, "chains": 2, "work_ns": 0},
        "backends": ["engine", "dispatch"],
    },
    # So many classes of operations that the table has a second page.
    "mix": {
        "name": "mix", "summary": "s", "shape": "priority_mix", "backends": ["engine", "foundation"],
        "parameters": {"operations": [40, 50, 60, 70, 80, 90, 100], "work_ns": 0},
    },
}


class Unexpected(Exception):
    """Something did not hold."""


def check(holds: object, what: str) -> None:
    if not holds:
        raise Unexpected(what)


class Runs:
    """Runs of a few small cells, and pages of them."""

    def __init__(self, binary: Path, folder: Path, pages: Path) -> None:
        self.binary, self.folder, self.pages = binary.resolve(), folder, pages

    def opbench(self, *words: object) -> str:
        ended = subprocess.run(
            [self.binary, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300
        )
        check(ended.returncode == 0, f"{words[0]} ended with {ended.returncode}:\n{ended.stderr}")
        return ended.stderr

    def measure(self) -> None:
        files = []
        for name, workload in WORKLOADS.items():
            (self.folder / f"{name}.json").write_text(json.dumps(workload), encoding="utf-8")
            files.append(f"{name}.json")
        plan = ("--quick", "--no-progress", "--metric", "throughput,latency,memory", "--blocks")
        # The fewest that have an interval of 95 %.
        self.opbench("run", *plan, 6, "--run-id", "today", *files)
        self.opbench("run", *plan, 1, "--run-id", "single", "chain.json")
        self.opbench("ab", self.binary, self.binary, *plan, 3, "--run-id", "sides", "chain.json")

    def report(self, name: str, *words: object) -> Path:
        page = self.pages / f"{name}.html"
        self.opbench("report", *words, "--output", page, "--open", "no")
        return page

    def rows(self, run: str) -> tuple[list[str], list[dict[str, str]]]:
        with (self.folder / "results" / run / "samples.csv").open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            return list(reader.fieldnames or []), list(reader)

    def made_up(self, name: str, columns: list[str], rows: Iterator[dict[str, str]]) -> None:
        folder = self.folder / "results" / name
        folder.mkdir(parents=True)
        with (folder / "samples.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(row | {"run_id": name} for row in rows)


    def renamed(self, run: str, name: str, started: str, factor: float) -> None:
        """The same run at another time, its times so many times as long."""
        columns, rows = self.rows(run)
        self.made_up(name, columns, (
            row | {"timestamp_utc": started, "value": str(float(row["value"]) * factor) if row["metric"] == "time" else row["value"]}
            for row in rows
        ))  # fmt: skip
        described = json.loads((self.folder / "results" / run / "run.json").read_text(encoding="utf-8"))
        described |= {"run_id": name, "started_utc": started, "ended_utc": started}
        (self.folder / "results" / name / "run.json").write_text(json.dumps(described), encoding="utf-8")


class Browser:
    """A Chromium without a network, that keeps what pages complain of and what they ask for."""

    def __init__(self, playwright: object) -> None:
        self.browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])  # type: ignore[attr-defined]

    @contextmanager
    def open(self, file: Path, **how: object) -> Iterator[Page]:
        context = self.browser.new_context(offline=True, accept_downloads=True, **how)
        page = context.new_page()
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        yield page
        see_all(page)
        hacked = page.evaluate("window.hacked")
        context.close()
        check(not complaints, f"{file.name}: the console has {complaints[:3]}")
        left = [url for url in asked if url != file.as_uri() and not url.startswith(("data:", "blob:"))]
        check(not left, f"{file.name}: requests for {left[:3]}")
        check(hacked is None, f"{file.name}: a name was executed: {hacked}")


def until(page: Page, expression: str) -> None:
    """Waits for it to be true. Playwright's own waiting evaluates text in the page, which the page's policy forbids."""
    deadline = time.monotonic() + 10
    while not page.evaluate(expression):
        check(time.monotonic() < deadline, f"never true: {expression}")
        page.wait_for_timeout(10)


def see_all(page: Page) -> None:
    """Brings every chart into view, so that all are drawn."""
    for plot in page.query_selector_all(".plot"):
        plot.scroll_into_view_if_needed()
        page.wait_for_timeout(30)
    drawn = page.eval_on_selector_all(".plot[role=img]", "all => all.map(one => one.querySelector('svg') !== null)")
    check(all(drawn), "a chart was not drawn")


def column(page: Page, title: str) -> list[str]:
    """The texts of a column of the table of cells."""
    return page.evaluate(
        """title => {
            const table = document.querySelector("#cell-scroll table");
            const names = [...table.querySelectorAll("thead button")].map(one => one.dataset.column);
            const fromEnd = names.length - names.indexOf(title);
            return [...table.querySelectorAll("tbody tr")].map(row => row.children[row.children.length - fromEnd].textContent.trim());
        }""",
        title,
    )


def nanoseconds(text: str) -> float:
    match = re.match(r"([\d.]+) (ns|µs|ms|s)\b", text)
    check(match, f"no time: {text!r}")
    assert match is not None
    return float(match[1]) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[match[2]]


def prove_table(runs: Runs, browser: Browser) -> str:
    """Sorted, filtered, toggled, downloaded."""
    file = runs.report("today", "today")
    with browser.open(file) as page:
        places = page.eval_on_selector_all("main section", "all => all.map(one => one.id)")
        check(places[0] == "cells" and places[-1] == "verdicts", f"the sections are {places}")
        check("Nothing was judged" in page.inner_text("#verdicts"), "nothing was judged, and the page does not say so")
        check("samples: " in page.inner_text("header"), "the top does not say what the run is")
        order = json.loads(page.inner_text("#data"))["backends"]
        check(page.locator("#legend button").all_inner_texts() == order, "the legend has another order than the rows")
        check(page.inner_text("#ratios h3") == "Time per operation ÷ dispatch", "the baseline has no name")
        check(re.search(r"\d ns \([\d.]+–[\d.]+\)", page.inner_text("#cell-scroll")), "no interval in the figure's unit")
        whole = len(column(page, "backend"))
        check(not any("priority=" in text for text in column(page, "backend")), "rows of classes are there unasked")
        page.fill("#filter", "priority=high")
        until(page, "document.querySelector('#cell-count').textContent.includes('shown')")
        check(all("priority=high" in text for text in column(page, "backend")), "a class is not found by its name")
        page.fill("#filter", "priority")
        until(page, "document.querySelectorAll('#cell-scroll tbody tr').length > 14")
        some, every = (int(number) for number in re.findall(r"\d+", page.inner_text("#cell-count"))[:2])
        check(whole < some < every, f"{some} rows are more than the {every} that there are")
        page.fill("#filter", "")
        until(page, "!document.querySelector('#cell-count').textContent.includes('shown')")
        check(len(column(page, "backend")) == whole, "rows of classes stay when they are no longer asked for")
        page.check("#with-classes")
        names = "[...document.querySelectorAll('#cell-scroll tbody th button')].map(one => one.title)"
        first, rows = page.evaluate(names), len(column(page, "backend"))
        check(whole < rows <= 100, f"{rows} rows with classes, {whole} without")
        page.click("#cell-pager [data-step=next]")
        check(not set(first) & set(page.evaluate(names)), "a cell is on two pages")
        page.uncheck("#with-classes")
        button = 'thead button[data-column="time/op"]'
        page.click(button)
        times = [nanoseconds(text) for text in column(page, "time/op") if text != "–"]
        check(times == sorted(times) and len(times) > 5, f"not sorted: {times}")
        check(page.get_attribute("th:has(> [data-column='time/op'])", "aria-sort") == "ascending", "no aria-sort")
        page.click(button)
        falling = [nanoseconds(text) for text in column(page, "time/op") if text != "–"]
        check(falling == sorted(falling, reverse=True), f"not sorted the other way: {falling}")
        page.click(button)
        page.fill("#filter", "items=200 engine")
        until(page, "document.querySelector('#cell-count').textContent.includes('shown')")
        check(set(column(page, "backend")) == {"engine"}, "the filter lets others through")
        with page.expect_download() as download:
            page.click("#csv")
        text = Path(download.value.path()).read_text(encoding="utf-8")
        lines = list(csv.DictReader(io.StringIO(text)))
        check(len(lines) == len(column(page, "backend")), "the file has other rows than the table")
        check(all(float(line["time_ns_per_op"]) > 0 for line in lines if line["operation_class"] == ""), "no times in the file")
        page.fill("#filter", "")
        until(page, "!document.querySelector('#cell-count').textContent.includes('shown')")
        marks = "#ratios svg path"
        page.locator("#ratios .plot").scroll_into_view_if_needed()
        page.wait_for_selector(marks, state="attached")
        before = page.locator(marks).count()
        legend = page.locator("#legend .toggle", has_text="engine")
        check(legend.evaluate("one => one.getBoundingClientRect().top") >= 0, "the legend is out of view where the charts are")
        legend.click()
        check(page.locator(marks).count() < before, "the chart still shows a backend that was switched off")
        check("engine" not in column(page, "backend"), "the table still shows a backend that was switched off")
        legend.click()
        check(len(column(page, "backend")) == whole, "the backend did not come back")
        page.locator("#ratios button", has_text="Zoom in").click()
        with page.expect_download() as download:
            page.locator("#ratios button", has_text="Save as SVG").click()
        texts = {one.text for one in ElementTree.parse(download.value.path()).iter("{http://www.w3.org/2000/svg}text")}
        check({page.inner_text("#ratios h3"), "dispatch"} <= texts, "the saved picture has no title or no legend")
        page.locator("#ratios summary").click()
        page.wait_for_selector("#ratios details tbody tr", state="attached")
        page.locator("#by-cell [data-turn=on]").count()
        page.locator("#cell-scroll tbody th button").nth(2).click()
        page.locator("#percentiles .plot").scroll_into_view_if_needed()
        page.wait_for_selector("#percentiles svg path", state="attached")
        parts = "echarts.getInstanceByDom(document.querySelector('#percentiles .plot')).getOption().dataZoom.map(one => one.end - one.start)"
        page.locator("#percentiles button", has_text="Zoom in horizontally").click()
        check(page.evaluate(parts) == [50, 100], f"the button for one axis zooms to {page.evaluate(parts)}")
        page.locator("#percentiles button", has_text="Zoom in vertically").click()
        check(page.evaluate(parts) == [50, 50], "the button for the other axis does not")
        page.locator("#percentiles button", has_text="Whole").click()
        check(page.evaluate(parts) == [100, 100], "not whole again")
        page.locator("#percentiles .plot").hover(position={"x": 300, "y": 150})
        until(page, "[...document.querySelectorAll('#percentiles .plot div')].some(one => one.textContent.includes('within'))")
        check(page.locator("#sweep svg path").count() >= 0 and page.locator("#sweep").count() == 1, "no swept parameter")
    return f"{whole} rows sorted, filtered, toggled, saved; {file.stat().st_size} bytes"


def prove_keyboard(runs: Runs, browser: Browser) -> str:
    """Without a mouse, and named for a screen reader."""
    with browser.open(runs.pages / "today.html") as page:
        page.keyboard.press("Tab")
        check(page.evaluate("document.activeElement.className") == "skip", "the skip link is not first")
        page.keyboard.press("Enter")
        check(page.evaluate("document.activeElement.id") == "main", "the skip link leads elsewhere")
        page.focus('thead button[data-column="samples"]')
        page.keyboard.press("Enter")
        check(page.evaluate("document.activeElement.dataset.column") == "samples", "the focus is lost by sorting")
        page.focus("#legend .toggle")
        page.keyboard.press("Space")
        check(page.get_attribute("#legend .toggle", "aria-pressed") == "false", "the space bar does not toggle")
        check(page.evaluate("document.activeElement.closest('#legend') !== null"), "the focus is lost by a legend")
        page.keyboard.press("Enter")
        check(page.get_attribute("#legend .toggle", "aria-pressed") == "true", "the key does not toggle back")
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll("button, select, input, a, [role=img], [role=region]")].filter(one =>
                !(one.textContent.trim() || one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.labels?.length)).length"""
        )
        check(unnamed == 0, f"{unnamed} controls have no name")
        bare = page.evaluate(
            """() => [...document.querySelectorAll("table")].filter(one => !one.caption || [...one.querySelectorAll("th")].some(head => !head.scope)).length"""
        )
        check(bare == 0, f"{bare} tables without a caption or scopes")
        low = page.evaluate("document.querySelectorAll('h1').length")
        check(low == 1, f"{low} first headings")
    return "skip link, sorting, legends; all controls, charts and tables named"


def prove_looks(runs: Runs, browser: Browser) -> str:
    """In the dark, on a narrow screen, on paper."""
    file = runs.pages / "today.html"
    with browser.open(file, color_scheme="dark") as page:
        check(page.evaluate("document.documentElement.dataset.theme") == "dark", "the system's dark is not followed")
        colour = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(colour)
        page.click("#theme")
        check(page.evaluate(colour) != dark, "the button changes nothing")
        check(page.inner_text("#theme") == "Dark", "the button does not say what it turns to")
        page.click("#theme")
        check(page.inner_text("#theme") == "Light", "the button does not say what it turns back to")
        see_all(page)
        page.screenshot(path=runs.pages / "dark.png", full_page=True)
    with browser.open(file, viewport={"width": 400, "height": 800}) as page:
        see_all(page)
        check(page.evaluate("document.documentElement.scrollWidth") <= 400, "a narrow page is wider than its window")
        page.screenshot(path=runs.pages / "narrow.png", full_page=True)
    for width in (1200, 1900):
        with browser.open(file, viewport={"width": width, "height": 1000}) as page:
            cut = page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('#cell-scroll'))")
            check(cut <= 0, f"{cut} pixels of the table are out of view in a window of {width}")
            rows = page.evaluate("[...new Set([...document.querySelectorAll('#cell-scroll tbody tr.again')].map(one => Math.round(one.offsetHeight)))]")
            check(len(rows) > 0 and max(rows) < 40, f"rows are {rows} pixels high in a window of {width}")
    with browser.open(file) as page:
        see_all(page)
        page.screenshot(path=runs.pages / "light.png", full_page=True)
        paper = page.pdf(path=runs.pages / "print.pdf", format="A4")
        check(paper.startswith(b"%PDF") and paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") != 1, "no pages")
    return "dark, 400 px, paper"


def prove_sections(runs: Runs, browser: Browser) -> str:
    """The page of a history, and CPU time by kind of code: by themselves, in light, in the dark, narrow and on paper."""
    for number in range(14):
        runs.renamed("single", f"run-{number:02}", f"2026-11-{number + 1:02}T10:00:00Z", 1.25 if number > 8 else 1 + number % 3 / 100)
    runs.opbench("history", "add", *(f"run-{number:02}" for number in range(14)))
    history = runs.pages / "history.html"
    runs.opbench("history", "report", "--no-change-points", "--output", history)
    profile = runs.folder / "results/today/profile"
    runs.opbench("profile", "--no-progress", "--kind", "cpu", "--seconds", "0.1", "--backend", "engine,dispatch", "--output", profile, "chain.json")
    classes = runs.report("classes", "today")
    for how, options in LOOKS.items():
        with browser.open(history, **options) as page:
            see_all(page)
            check(page.locator("#trend svg path").count() > 20, "no trend is drawn")
            check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{how}: the history is wider than its window")
            page.screenshot(path=runs.pages / f"history-{how}.png", full_page=True)
            if how == "light":
                page.pdf(path=runs.pages / "history.pdf", format="A4")
        with browser.open(classes, **options) as page:
            page.locator("#cell-scroll tbody th button", has_text="chain").first.click()
            page.locator("#classes .plot").scroll_into_view_if_needed()
            page.wait_for_selector("#classes svg path", state="attached")
            page.locator("#classes").screenshot(path=runs.pages / f"classes-{how}.png")
            page.locator("#classes summary").click()
            page.wait_for_selector("#classes details tbody tr")
            check("workload" in page.inner_text("#classes table"), "the classes are not told as a table")
            if how == "light":
                page.pdf(path=runs.pages / "classes.pdf", format="A4")
    return f"14 runs and {len(list(profile.rglob('cpu.speedscope.json')))} profiles, each in {len(LOOKS)} looks"


def prove_verdicts(runs: Runs, browser: Browser) -> str:
    """Against a baseline, of two builds, by goals, of a single sample."""
    goals = runs.folder / "goals.json"
    goals.write_text(
        json.dumps({"version": 1, "rules": [{"backend": "engine", "metric": "allocations", "at_most": 1e6}]}), encoding="utf-8"
    )
    said = []
    for name, words in {
        "baseline": ("today", "--baseline", "single"),
        "sides": ("sides",),
        "goals": ("today", "--policy", "goals.json"),
        "single": ("single",),
        "both": ("today", "single"),
    }.items():
        with browser.open(runs.report(name, *words)) as page:
            judged = page.locator(".verdict .outcome strong")
            outcome = judged.first.inner_text() if judged.count() else "nothing judged"
            said.append(f"{name}: {outcome}")
            check(judged.count() == (0 if name in ("single", "both") else 1), f"{name}: {outcome}")
            has_chart = page.locator("#differences").count() == 1
            check(has_chart == (name in ("baseline", "sides")), f"{name}: differences are {'' if has_chart else 'not '}drawn")
    return ", ".join(said)


def prove_hostile(runs: Runs, browser: Browser) -> str:
    """Names in files are text."""
    columns, rows = runs.rows("single")

    def renamed() -> Iterator[dict[str, str]]:
        for name in HOSTILE:
            for row in rows:
                renamed = row | {"workload": name, "cell_id": name, "notes": name, "backend": name if row["backend"] == "dispatch" else "engine"}
                yield renamed | {column: name for column in columns if column.startswith("param") and row[column]}

    runs.made_up("hostile", columns, renamed())
    with browser.open(runs.report("hostile", "hostile")) as page:
        text = page.inner_text("#cell-scroll")
        for name in HOSTILE:
            shown = name.replace("\u2028", "\\u{2028}").replace("\u202e", "\\u{202e}")
            check(shown in text, f"{name!r} is not shown as it is")
        check(page.evaluate("document.querySelectorAll('main img, main svg[onload]').length") == 0, "a name became an element")
    return f"{len(HOSTILE)} names are text"


def prove_size(runs: Runs, browser: Browser) -> str:
    """Many cells open at once."""
    columns, rows = runs.rows("single")
    # What the table and the charts show.
    shown = {("throughput_ops", "total"), ("time", "total"), ("cpu_time", "total"), ("allocations", "total"), ("start_latency", "")}
    rows = [row for row in rows if (row["metric"], row["phase"]) in shown and not row["iteration"] and row["status"] == "ok"]
    parameter = next(column for column in columns if column in ("param.depth", "param_depth"))

    def many() -> Iterator[dict[str, str]]:
        for cell in range(MANY_CELLS):
            for row in rows:
                yield row | {
                    "sample_id": f"{cell}-{row['sample_id']}", "cell_id": f"chain chains=2 depth={cell} work_ns=0", parameter: str(cell),
                }

    runs.made_up("many", columns, many())
    begun = time.monotonic()
    file = runs.report("many", "many")
    made = time.monotonic() - begun
    times = []
    for _ in range(5):
        with browser.open(file) as page:
            # From the start of the navigation to the first frame after the page is ready.
            times.append(page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"))
            begun = time.monotonic()
            page.fill("#filter", "depth=77 engine")
            until(page, "document.querySelector('#cell-count').textContent.includes('shown')")
            filtered = time.monotonic() - begun
    with browser.open(file) as page:
        shown = "document.querySelectorAll('#cell-scroll tbody tr').length"
        check(page.evaluate(shown) == 100, f"{page.evaluate(shown)} rows on the screen")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        on_paper = page.inner_text("#cell-count")
        check(page.evaluate(shown) == 2000 and "1–2000 below" in on_paper, f"{page.evaluate(shown)} rows on paper: {on_paper}")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        check(page.evaluate(shown) == 100, "the pages to turn do not come back")
    ready = page_timing(browser, file)
    check(statistics.median(ready) < OPEN_LIMIT_MS, f"it takes {statistics.median(ready):.0f} ms to open")
    return (
        f"{MANY_CELLS} cells: {file.stat().st_size} bytes, made in {made:.0f} s, open in {statistics.median(ready):.0f} ms "
        f"({min(ready):.0f}–{max(ready):.0f}), filtered in {filtered * 1000:.0f} ms"
    )


def page_timing(browser: Browser, file: Path) -> list[float]:
    """Milliseconds from the navigation's start until the table is there and a frame was painted."""
    times = []
    script = """
        new MutationObserver((_, watcher) => {
            if (document.documentElement.dataset.ready === undefined) return;
            watcher.disconnect();
            requestAnimationFrame(() => requestAnimationFrame(() => { window.openedAfter = performance.now(); }));
        }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"] });
    """
    for _ in range(5):
        context = browser.browser.new_context(offline=True)
        page = context.new_page()
        page.add_init_script(script)
        page.goto(file.as_uri())
        until(page, "window.openedAfter !== undefined")
        times.append(page.evaluate("window.openedAfter"))
        context.close()
    return times


STEPS: dict[str, Callable[[Runs, Browser], str]] = {
    "table": prove_table, "keyboard": prove_keyboard, "looks": prove_looks, "sections": prove_sections, "verdicts": prove_verdicts,
    "hostile names": prove_hostile, "10,000 cells": prove_size,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="prove-page", description=__doc__)
    parser.add_argument("--short", action="store_true", help="without the page of 10,000 cells")
    parser.add_argument("--binary", type=Path, required=True, metavar="FILE", help="the opbench that writes the pages (default: the one built here)")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the pages and pictures there")
    options = parser.parse_args(arguments)
    # Not before --help is answered, which needs nothing installed.
    from playwright.sync_api import sync_playwright

    held = True
    with tempfile.TemporaryDirectory(prefix="opbench-page-") as name, sync_playwright() as playwright:
        folder = Path(name)
        pages = (options.output or folder / "pages").resolve()
        pages.mkdir(parents=True, exist_ok=True)
        runs = Runs(options.binary, folder, pages)
        runs.measure()
        browser = Browser(playwright)
        for step, attempt in STEPS.items():
            if options.short and step == "10,000 cells":
                continue
            begun = time.monotonic()
            try:
                print(f"{step}: {attempt(runs, browser)} ({time.monotonic() - begun:.0f} s)", flush=True)
            except Exception as problem:  # noqa: BLE001 what Playwright waits for in vain is a claim that does not hold
                print(f"{step}: DOES NOT HOLD: {problem}", flush=True)
                held = False
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
