// Measures the tab Timeline with many stretches, in Chromium with software rendering.
//
//   node test/bench_timeline.mjs [--rows N] [--threads N] [--repeat N] [--page FILE]
//
// Prints the size of the page, the time from navigation to the first frame, the time of filters with
// and without all that shows the selection, and frames while zooming and moving. --page: a page of a
// recording, in place of a synthetic one.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, openPage } from "./chromium.mjs";
import { makePage } from "./generate.mjs";
import { makeStretchData } from "./generate_stretches.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const rest = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const repeat = Number(option("--repeat", 5));
const quantile = (list, part) => [...list].sort((a, b) => a - b)[
  Math.min(list.length - 1, Math.floor(part * list.length))];
const ms = (value) => `${value.toFixed(1)} ms`;
const both = (list) => `median ${ms(quantile(list, 0.5))}, 95 % ${ms(quantile(list, 0.95))}`;
const report = (name, value) => console.log(`${name.padEnd(46)} ${value}`);

const FILTERS = ["thread~worker && wait=park && duration > 1us", "duration > 1us",
                 "instructions / duration > 2", "context~Parser minus cpu=0",
                 "begin < 900ms && next > 500ms && tid=100|101|102"];

/** Sends one input per frame, and returns the times of frames and of drawing. */
async function frames(page, act) {
  return page.evaluate(async (source) => {
    window.jprofDraws = [];
    const times = [];
    let last = performance.now();
    const canvas = document.querySelector("#panel-timeline canvas");
    const box = canvas.getBoundingClientRect();
    const wheel = (values) => canvas.dispatchEvent(new WheelEvent("wheel", {
      clientX: box.left + 0.6 * box.width, clientY: box.top + 60, cancelable: true, bubbles: true,
      ...values }));
    const step = new Function("i", "wheel", source);
    for (let i = 0; i < 160; ++i) {
      step(i, wheel);
      const now = await new Promise(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return { times: times.slice(2), draws: window.jprofDraws };
  }, act);
}

async function measure(file) {
  const loads = [];
  for (let i = 0; i < repeat; ++i) {
    const browser = await launch();
    const { page, faults } = await openPage(browser, file, "#view=timeline");
    if (faults.length > 0) throw new Error(faults.join("\n"));
    const marks = await page.evaluate(() => Object.fromEntries(
      performance.getEntriesByType("mark").map((one) => [one.name, one.startTime])));
    loads.push(marks["jprof:first-frame"]);
    if (i === repeat - 1) {
      let before = 0;
      for (const [name, at] of Object.entries(marks)) {
        report(`  last load: ${name.slice(6)}`, `at ${ms(at)} (+${ms(at - before)})`);
        before = at;
      }
      await measureUse(page);
    }
    await browser.close();
  }
  report("navigation to the first frame", both(loads));
}

async function measureUse(page) {
  const field = page.locator("[data-field=only]");
  for (const filter of FILTERS) {
    await page.evaluate(() => { window.jprofFilters = []; window.jprofUpdates = []; });
    for (let i = 0; i < 8; ++i) {
      await field.fill(i % 2 ? filter : `${filter} `.replace(" ", "  "));
      await page.waitForTimeout(400);
    }
    const [filters, updates] = await page.evaluate(() => [window.jprofFilters, window.jprofUpdates]);
    report(`filter ${filter}`, both(filters.slice(1)));
    report("  with what the picture needs", both(updates.slice(1)));
  }
  const show = (name, { times, draws }) => {
    report(`${name}: frames`, `${both(times)} (${times.length})`);
    report(`${name}: drawing`, both(draws));
  };
  const zoom = "wheel({ deltaY: i % 80 < 40 ? -40 : 40 });";
  const move = "wheel({ deltaY: i % 2 ? 1 : -1 });";
  const scroll = "wheel({ deltaY: i % 60 < 30 ? 40 : -40, shiftKey: true });";
  for (const [state, text] of [["everything", ""], ["a selection", FILTERS[1]]]) {
    await field.fill(text);
    await page.waitForTimeout(600);
    await page.focus("#panel-timeline canvas");
    await page.keyboard.press("0");
    await page.waitForTimeout(400);
    show(`${state}: all times`, await frames(page, move));
    show(`${state}: scrolling`, await frames(page, scroll));
    show(`${state}: zooming`, await frames(page, zoom));
  }
}

report("load of the machine", loadavg().map((one) => one.toFixed(2)).join(" "));
const folder = mkdtempSync(join(tmpdir(), "jprof-bench-"));
try {
  let file = option("--page");
  if (!file) {
    file = join(folder, "timeline.html");
    const { bytes } = makeStretchData({ rows: Number(option("--rows", 1000000)),
                                        threads: Number(option("--threads", 64)) });
    writeFileSync(file, makePage(readFileSync(join(here, "..", "build", "view.html"), "utf8"), bytes));
    report("inflated data", `${(bytes.length / 1e6).toFixed(1)} MB`);
  }
  report("page", `${(statSync(file).size / 1e6).toFixed(1)} MB`);
  await measure(file);
} finally {
  rmSync(folder, { recursive: true });
}
