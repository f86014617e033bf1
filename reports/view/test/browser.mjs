// Uses the page as a person does, in Chromium, and takes screenshots.
//
//   node test/browser.mjs FILE.html [--screenshots DIR] [--expect-hottest NAME] [--expect-time]
//
// Exit status 1: an expectation failed, the page reported an error, or it requested something other
// than a file. 77: there is no Chromium.
import assert from "node:assert/strict";
import { openPage } from "./chromium.mjs";
import { usePage } from "./person.mjs";

await usePage(async ({ browser, file, url, page, option, rest, check, shot, text, isShown,
                       rowCount, settled, waitForHash, painted }) => {
  const setField = async (selector, value) => {
    await page.fill(selector, value);
    await settled();
  };
  let [hottest, hottestShown] = ["", ""];   // in the data, on the page

  await check("first screen: total, losses, five hottest methods, flame graph", async () => {
    await shot("01-first-screen");
    assert.notEqual(await text("#title"), "");
    assert.match(await text("#total"), /\d/);
    assert.ok(await isShown("#losses") || await isShown("#quality"));
    const hot = page.locator("#hottest .hot");
    assert.ok(await hot.count() >= 1 && await hot.count() <= 5);
    hottest = await hot.first().getAttribute("data-name");
    hottestShown = await hot.first().getAttribute("title");
    assert.ok(await painted() > 1000, "the flame graph is empty");
    const expected = option("--expect-hottest");
    if (expected) assert.ok(hottest.includes(expected), `hottest: ${hottest}, not ${expected}`);
  });

  const pattern = hottest.replace(/\(.*/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  await check("search finds the hottest method and its share", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type(pattern);
    await settled();
    assert.match(await text("#matches"), /^[\d.]+ % in [\d,]+ methods?, [\d,]+ contexts/);
    await shot("02-search");
    await setField("#search", "(");
    assert.equal(await page.locator("#matches.problem").count(), 1, "a wrong expression");
    await setField("#search", "");
  });

  await check("zoom by click, wheel and keys; Escape goes back", async () => {
    const canvas = page.locator("#panel-flame canvas:not(.upper)");
    const box = await canvas.boundingBox();
    const level = 18;  // as in src/pan_zoom.ts
    await page.mouse.click(box.x + 30, box.y + 2.5 * level);
    await waitForHash(/zoom=\d+/);
    await shot("03-zoom");
    await page.mouse.move(box.x + 200, box.y + 3 * level);
    for (let i = 0; i < 4; ++i) await page.mouse.wheel(0, -120);
    await page.mouse.wheel(0, 400);
    await page.keyboard.press("Escape");
    await waitForHash(/zoom=/, false);
    await canvas.focus();
    const keys = "ArrowDown ArrowDown ArrowRight ArrowUp Enter w d s 0".split(" ");
    for (const key of keys) {
      await page.keyboard.press(key);
    }
    await settled();
    assert.match(await text("#panel-flame .details"), /cumulative/);
  });

  await check("callers, sandwich, order, direction and colours", async () => {
    const choose = (label, value) =>
      page.selectOption(`#panel-flame select[aria-label="${label}"]`, value);
    await choose("show", "callers");
    await shot("04-callers");
    assert.ok(await painted() > 1000);
    await choose("show", "sandwich");
    await page.locator("#hottest .hot").first().click();
    await shot("05-sandwich");
    assert.ok(await painted() > 500);
    await choose("show", "calls");
    await choose("order", "file");
    await choose("grow", "up");
    await choose("colour", "package");
    await shot("06-packages");
    await choose("grow", "down");
    await choose("order", "heavy");
  });

  await check("call tree: hot path, sorting, folding by keys", async () => {
    await page.click("#tab-tree");
    await page.waitForSelector("#panel-tree .trow");
    await page.click("text=Expand hot path");
    await shot("07-tree");
    const rows = () => rowCount("#panel-tree .table");
    const before = await rows();
    await page.locator("#panel-tree .thead button").first().click();
    await page.click('#panel-tree .thead button[data-key="name"]');
    await settled();
    assert.equal(await page.locator('#panel-tree [aria-sort="ascending"]').count(), 1);
    await page.click('#panel-tree .thead button[data-key="share"]');
    await page.focus("#panel-tree .table");
    for (const key of ["Home", "ArrowLeft"]) await page.keyboard.press(key);
    assert.ok(await rows() < before, "ArrowLeft closes the first row");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("*");
    assert.ok(await rows() >= before, "* opens all");
    await page.keyboard.press("End");
    await settled();
    assert.equal(await page.locator('#panel-tree [aria-selected="true"]').count(), 1);
    await page.keyboard.press("Home");
    await page.keyboard.press("c");
  });

  await check("methods: sorting, callers and callees", async () => {
    await page.click("#tab-methods");
    await page.waitForSelector("#panel-methods .trow");
    await page.locator("#panel-methods .trow").first().click();
    await page.waitForSelector("#panel-methods .edges");
    const first = await page.locator("#panel-methods .trow .name").first().getAttribute("title");
    assert.equal(first, hottestShown, "the table begins with the hottest method");
    await shot("08-methods");
    for (const cell of await page.locator("#panel-methods .trow .parts > .method").all()) {
      assert.ok(await cell.evaluate((one) => one.scrollWidth <= one.clientWidth + 1),
                "a name is cut without a mark");
    }
    for (const cell of await page.locator("#panel-methods .edges td:not(.name)").all()) {
      assert.ok(await cell.evaluate((one) => one.scrollWidth <= one.clientWidth), "a number is cut");
    }
    await page.click('#panel-methods .thead button[data-key="contexts"]');
    await page.click('#panel-methods .thead button[data-key="self"]');
  });

  await check("contexts of the selected method", async () => {
    await page.click("#tab-contexts");
    await page.waitForSelector("#panel-contexts .trow");
    assert.equal(await text("#panel-contexts h2"), hottestShown);
    await shot("09-contexts");
  });

  await check("names in three forms, search by either", async () => {
    const shown = () => text("#panel-contexts h2");
    await page.selectOption("#names", "jvm");
    assert.equal(await shown(), hottest);
    await page.selectOption("#names", "short");
    assert.ok(hottest.includes(await shown()));
    await waitForHash(/names=short/);
    await page.selectOption("#names", "full");
    assert.equal(await shown(), hottestShown);
    await setField("#search", hottestShown.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    assert.match(await text("#matches"), / % in [1-9]/);
    await setField("#search", "");
  });

  await check("collapse by the menu, hide by a pattern, undo", async () => {
    await page.click("#tab-methods");
    const rows = () => rowCount("#panel-methods .table");
    const total = async () => (await text("#total")).replace(/contexts.*/, "");
    const [before, whole] = [await rows(), await total()];
    await page.locator("#panel-methods .trow").first().click({ button: "right" });
    await shot("20-menu");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".menu", { state: "detached" });
    await page.locator("#panel-methods .trow").first().click({ button: "right" });
    await page.locator(".menu button", { hasText: "Hide" }).first().click();
    assert.ok(await rows() < before, "a hidden method is in no table");
    assert.match(await text("#reshaped"), /Hidden/);
    assert.equal(await total(), whole, "the sums are as before");
    await waitForHash(/hide=/);
    await page.click("#reshaped >> text=Undo all");
    assert.equal(await rows(), before);
    await page.evaluate(() => { if (document.getElementById("filters").hidden) {
      document.getElementById("more").click(); } });
    await page.fill("#hide", "no.such.Method");
    await page.press("#hide", "Enter");
    assert.match(await text("#filter-problem"), /No method matches/);
    await page.fill("#collapse", "java.*");
    await page.press("#collapse", "Enter");
    if (await isShown("#reshaped")) {   // a profile of native code has no such package
      assert.match(await text("#reshaped"), /Collapsed/);
      assert.ok(await rows() < before);
      assert.equal(await total(), whole);
      await page.click("#more");
      for (const tab of ["flame", "tree", "plot", "contexts"]) await page.click(`#tab-${tab}`);
      await page.click("#tab-flame");
      await shot("21-collapsed");
      await page.click("#reshaped >> text=Undo all");
    } else await page.click("#more");
    assert.ok(!await isShown("#reshaped"));
    await page.click("#tab-flame");
    await page.locator("#hottest .hot").first().click();
  });

  await check("quality: one line, the rest on a click", async () => {
    if (!await isShown("#quality")) return;
    const height = () => page.locator("#quality").evaluate((one) => one.clientHeight);
    const before = await height();
    await page.click("#quality-line");
    if (await page.locator("#quality-facts dt").count() > 0) {
      assert.match(await text("#quality-line"), /^Quality: (good|fair|poor)\./);
    }
    await shot("22-quality");
    assert.ok(await height() >= before);
    await page.click("#quality-line");
    assert.equal(await height(), before);
  });

  await check("each tab explains itself by ?", async () => {
    for (const tab of ["flame", "tree", "methods", "contexts", "plot"]) {
      await page.click(`#tab-${tab}`);
      await page.keyboard.press("?");
      assert.equal(await text("#help-title"), await text(`#tab-${tab}`));
      assert.ok((await text("#legend")).length > 60);
      await shot(`23-legend-${tab}`);
      await page.keyboard.press("Escape");
    }
  });

  await check("a computed metric, and an error with its position", async () => {
    await page.keyboard.press("f");
    const metric = await page.evaluate(() => document.getElementById("measure").value);
    const name = metric.replace(/ \((old|new)\)$/, "");
    await page.fill("#metric", `double = 2 * "${name}" +`);
    await page.press("#metric", "Enter");
    assert.match(await text("#metric-problem"), /position \d+/);
    await page.fill("#metric", `double = 2 * "${name}"`);
    await page.press("#metric", "Enter");
    assert.equal(await text("#metric-problem"), "");
    await page.click("#tab-methods");
    const added = page.locator('#panel-methods .thead button[data-key="m.double"]');
    assert.equal(await added.count(), 1);
  });

  await check("filters: a share, a name, saved and combined", async () => {
    await setField("#filter", "share >= 1 and");
    assert.match(await text("#filter-problem"), /position \d+/);
    await setField("#filter", `name("${pattern.replaceAll("\\", "\\")}")`);
    assert.equal(await text("#filter-problem"), "");
    assert.match(await text("#total"), /filter shows\s+[\d.]+ %/);
    await page.fill("#filter-name", "hot");
    await page.press("#filter-name", "Enter");
    await setField("#filter", "not hot or (hot minus hot)");
    assert.equal(await text("#filter-problem"), "");
    await shot("10-filter");
    await page.click("#clear");
    assert.doesNotMatch(await text("#total"), /filter shows/);
  });

  await check("plot: correlation, marking, selection", async () => {
    await page.click("#tab-plot");
    await page.waitForSelector("#panel-plot canvas");
    assert.match(await text("#panel-plot .lead"),
                 /Pearson's r = (not defined|\S+) over [\d,]+ methods/);
    await shot("11-plot");
    const box = await page.locator("#panel-plot canvas").boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 15, box.y + box.height * 0.7, { steps: 4 });
    await shot("12-brush");
    await page.mouse.up();
    await page.focus("#panel-plot canvas");
    await page.keyboard.press("ArrowRight");
    await page.click("#panel-plot select >> nth=2");
  });

  const hasTime = await isShown("#tab-time");
  assert.ok(hasTime || !rest.includes("--expect-time"), "there is no tab Time");
  if (hasTime) {
    await check("time: calls of each thread, zoom, selection", async () => {
      await page.click("#tab-time");
      await settled();
      assert.ok(await painted("time") > 1000, "no call is drawn");
      assert.match(await text("#panel-time .lead"), /time/i);
      await shot("18-time");
      const box = await page.locator("#panel-time canvas").boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + 50);
      for (let i = 0; i < 6; ++i) await page.mouse.wheel(0, -120);
      await settled();
      assert.ok(await painted("time") > 1000, "no call is drawn after zooming in");
      let found = false;
      for (let y = 30; y < 160 && !found; y += 18) {
        for (let x = 0.1; x < 1 && !found; x += 0.1) {
          await page.mouse.move(box.x + x * box.width, box.y + y);
          found = /took/.test(await text("#panel-time .details"));
          if (found) await page.mouse.click(box.x + x * box.width, box.y + y);
        }
      }
      assert.ok(found, "there is no call below the mouse");
      await waitForHash(/method=/);
      await shot("19-time-zoomed");
      await page.focus("#panel-time canvas");
      for (const key of ["d", "ArrowDown", "PageUp", "s", "0"]) await page.keyboard.press(key);
    });
  }

  await check("dark and light, help, narrow window", async () => {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    await page.click("#theme");
    assert.notEqual(await theme(), before);
    await page.click("#tab-flame");
    await page.click("#more");
    await shot("13-dark");
    await page.click("#tab-tree");
    await shot("14-dark-tree");
    await page.click("#help-button");
    assert.ok(await isShown("#help"));
    await shot("15-help");
    await page.keyboard.press("Escape");
    assert.ok(!await isShown("#help"));
    await page.click("#theme");
    assert.equal(await theme(), before);
    await page.setViewportSize({ width: 900, height: 700 });
    await page.click("#tab-flame");
    await shot("16-narrow");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await check("a deep link restores the view", async () => {
    const opened = await openPage(browser, file,
      `#view=methods&method=${encodeURIComponent(hottest)}&search=${encodeURIComponent(pattern)}` +
      "&theme=dark&min=0.001&f.big=share+>=+1");
    assert.ok(await opened.page.isVisible("#panel-methods"));
    assert.equal(await opened.page.inputValue("#search"), pattern);
    assert.equal(await opened.page.innerText("#panel-methods .side h2"), hottestShown);
    assert.equal(await opened.page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.deepEqual(opened.faults, []);
    await opened.page.goto(`${url}#view=tree&row=2`);
    await opened.page.waitForSelector('#panel-tree [aria-selected="true"]');
    await opened.context.close();
  });

  await check("the page prints", async () => {
    await page.emulateMedia({ media: "print" });
    await shot("17-print");
    await page.emulateMedia({ media: "screen" });
  });
});
