// Measures the page with a large tree, in Chromium with software rendering.
//
//   node test/bench.mjs [--rows N] [--repeat N] [--speedscope DIR]
//
// Prints the time from navigation to the first drawn frame with its parts, the median and the 95th
// percentile of frame times while zooming and scrolling, the cost of drawing, and the file size.
// --speedscope: a folder where the npm package speedscope is installed (npm install speedscope in a
// temporary folder); the same stacks are then loaded there, for comparison.
import {
  createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { dirname, extname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, openPage } from "./chromium.mjs";
import { makeMethods, makePage, makeTree, makeData, random } from "./generate.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const rest = process.argv.slice(2);
const option = (name, otherwise) =>
  (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const rows = Number(option("--rows", 1000000));
const repeat = Number(option("--repeat", 5));
const folder = mkdtempSync(join(tmpdir(), "jprof-bench-"));

const quantile = (list, part) => [...list].sort((a, b) => a - b)[
  Math.min(list.length - 1, Math.floor(part * list.length))];
const ms = (value) => `${value.toFixed(1)} ms`;
const both = (list) => `median ${ms(quantile(list, 0.5))}, 95 % ${ms(quantile(list, 0.95))}`;
const report = (name, value) => console.log(`${name.padEnd(46)} ${value}`);

/** CPU time of the browser's processes in ms: unlike times, it is nearly the same on a busy
 * machine. */
async function cpuTime(page) {
  const session = await page.context().browser().newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.reduce((all, one) => all + 1000 * one.cpuTime, 0);
}

/** Frame times while `steps` inputs are sent, one per frame, and the cost of drawing. */
async function frames(page, steps, act) {
  await page.evaluate(() => {
    window.jprofDraws = [];
    window.frameTimes = [];
    let last = performance.now();
    const step = (now) => {
      window.frameTimes.push(now - last);
      last = now;
      window.frameLoop = requestAnimationFrame(step);
    };
    window.frameLoop = requestAnimationFrame(step);
  });
  const before = await cpuTime(page);
  await page.evaluate(act, steps);
  const cpu = (await cpuTime(page) - before) / steps;
  return page.evaluate((each) => {
    cancelAnimationFrame(window.frameLoop);
    return { times: window.frameTimes.slice(2), draws: window.jprofDraws, cpu: each };
  }, cpu);
}

async function zooming(steps) {
  const canvas = document.querySelector("#panel-flame canvas:not(.upper)");
  const box = canvas.getBoundingClientRect();
  for (let i = 0; i < steps; ++i) {
    const isIn = i % 80 < 40;
    canvas.dispatchEvent(new WheelEvent("wheel", {
      deltaY: isIn ? -60 : 60,
      clientX: box.left + box.width * (0.2 + 0.6 * Math.abs(Math.sin(i / 160))),
      clientY: box.top + 60, cancelable: true, bubbles: true,
    }));
    await new Promise(requestAnimationFrame);
  }
}
async function scrolling(steps) {
  const canvas = document.querySelector("#panel-flame canvas:not(.upper)");
  for (let i = 0; i < steps; ++i) {
    canvas.dispatchEvent(new WheelEvent("wheel", {
      deltaY: i % 60 < 30 ? 40 : -40, shiftKey: true, cancelable: true, bubbles: true,
    }));
    await new Promise(requestAnimationFrame);
  }
}
async function scrollTable(steps) {
  const body = document.querySelector("#panel-tree .tbody");
  for (let i = 0; i < steps; ++i) {
    body.scrollTop += 300;
    await new Promise(requestAnimationFrame);
  }
}

async function benchPage(file) {
  const loads = [];
  let marks = {};
  for (let i = 0; i < repeat; ++i) {
    const browser = await launch();
    const { page, faults } = await openPage(browser, file);
    if (faults.length > 0) throw new Error(faults.join("\n"));
    marks = await page.evaluate(() => Object.fromEntries(
      performance.getEntriesByType("mark").map((one) => [one.name, one.startTime])));
    loads.push(marks["jprof:first-frame"]);
    if (i === repeat - 1) await benchFrames(page);
    await browser.close();
  }
  report("navigation to the first frame", both(loads));
  let before = 0;
  for (const [name, at] of Object.entries(marks)) {
    report(`  last load: ${name.slice(6)}`, `at ${ms(at)} (+${ms(at - before)})`);
    before = at;
  }
}

async function benchFrames(page) {
  const show = (name, { times, draws, cpu }) => {
    report(`${name}: frames`, `${both(times)} (${times.length})`);
    report(`${name}: CPU of all processes`, `${ms(cpu)} per frame`);
    if (draws.length > 0) report(`${name}: drawing`, both(draws));
  };
  show("flame graph, zooming", await frames(page, 240, zooming));
  await page.keyboard.press("Escape");
  show("flame graph, scrolling", await frames(page, 120, scrolling));
  await page.click("#tab-tree");
  const begin = Date.now();
  await page.focus("#panel-tree .table");
  await page.click("text=Expand all");
  report("call tree, all rows expanded", ms(Date.now() - begin));
  show("call tree, scrolling", await frames(page, 240, scrollTable));
  const timed = async (name, act) => {
    const took = await page.evaluate(async (source) => {
      const start = performance.now();
      document.querySelector(source[0])[source[1]]();
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      return performance.now() - start;
    }, act);
    report(name, ms(took));
  };
  await timed("methods, first shown", ["#tab-methods", "click"]);
  await timed("plot, first shown", ["#tab-plot", "click"]);
}

/** The same rows as speedscope's own format: sampled stacks with weights. */
function writeSpeedscope(path) {
  const next = random(1);
  const methods = makeMethods(Math.max(20, Math.min(20000, Math.floor(rows / 20))), next);
  const threads = ["main (tid 77)", "worker-1 (tid 78)", "worker-2 (tid 79)"];
  const tree = makeTree(rows, next, methods, threads);
  const frames = [...methods.names, ...threads].map((name) => ({ name }));
  const stacks = [];
  const stack = [];
  const depth = new Uint16Array(rows);
  for (let row = 0; row < rows; ++row) {
    depth[row] = tree.parent[row] === 0xffffffff ? 0 : depth[tree.parent[row]] + 1;
    stack.length = depth[row];
    stack.push(tree.method[row]);
    stacks.push(`[${stack.join(",")}]`);
  }
  const head = JSON.stringify({
    $schema: "https://www.speedscope.app/file-format-schema.json", shared: { frames },
    name: "bench", activeProfileIndex: 0,
  }).slice(0, -1);
  const total = tree.self.reduce((all, x) => all + x, 0);
  const text = `${head},"profiles":[{"type":"sampled","name":"all","unit":"nanoseconds",` +
    `"startValue":0,"endValue":${total},"samples":[${stacks.join(",")}],` +
    `"weights":[${tree.self.join(",")}]}]}`;
  writeFileSync(path, text);
}

/** speedscope reads a profile by fetch, which needs a server. */
async function benchSpeedscope(release) {
  const json = join(folder, "bench.speedscope.json");
  writeSpeedscope(json);
  report("speedscope: file", `${(statSync(json).size / 1e6).toFixed(1)} MB`);
  const root = resolve(release);
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
    const file = path === "/bench.json" ? json : resolve(join(root, path));
    if (file !== json && !file.startsWith(root + sep)) return response.writeHead(404).end();
    response.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
    return createReadStream(file).on("error", () => response.writeHead(404).end()).pipe(response);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const begin = Date.now();
  try {
    const port = server.address().port;
    await page.goto(`http://127.0.0.1:${port}/index.html#profileURL=` +
                    encodeURIComponent(`http://127.0.0.1:${port}/bench.json`));
    // The toolbar has the names of its views when a profile is shown.
    await page.waitForFunction(() => /Time Order/.test(document.body.innerText) &&
      document.querySelectorAll("canvas").length > 0 && !/Loading/.test(document.body.innerText),
      undefined, { timeout: 300000 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() =>
      requestAnimationFrame(done))));
    report("speedscope: navigation to the first frame", ms(Date.now() - begin));
  } catch (problem) {
    const [reason] = problem.message.split("\n");
    report("speedscope", `not loaded after ${ms(Date.now() - begin)}: ${reason}`);
  }
  await browser.close();
  server.close();
}

try {
  const file = join(folder, "bench.html");
  const template = readFileSync(join(here, "..", "build", "view.html"), "utf8");
  const data = makeData({ rows });
  writeFileSync(file, makePage(template, data.bytes));
  report("load of the machine", loadavg().map((x) => x.toFixed(1)).join(" "));
  report("rows", rows.toLocaleString("en-US"));
  const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  report("file", `${mb(statSync(file).size)} (${mb(data.bytes.length)} of columns)`);
  await benchPage(file);
  const release = option("--speedscope");
  if (release) await benchSpeedscope(join(release, "node_modules/speedscope/dist/release"));
} finally {
  rmSync(folder, { recursive: true });
}
