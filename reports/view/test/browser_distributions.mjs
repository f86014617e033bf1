// Uses the histograms of single calls as a person does, in Chromium, and takes screenshots.
//
//   node test/browser_distributions.mjs FILE.html [--screenshots DIR]
//
// FILE.html has distributions of calls, as generate.mjs makes it with --distributions. Exit status
// as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, chooseMethod }) => {
  const plot = "#panel-methods .distribution";

  await check("a method with its calls: quantiles and two histograms", async () => {
    await page.click("#tab-methods");
    await page.waitForSelector("#panel-methods .trow");
    await chooseMethod(plot);
    await shot("d01-methods");
    assert.deepEqual(await page.locator(`${plot} thead th`).allInnerTexts(),
                     ["", "shortest", "median", "90 %", "99 %", "longest", "mean", "own %"]);
    const rows = await page.locator(`${plot} tbody tr`).allInnerTexts();
    assert.equal(rows.length, 2);
    assert.match(rows[0], /^CPU time\s+\d[\d.]* (ns|us)\s/);
    assert.match(rows[1], /^elapsed time\s+<\d/);
    assert.match(await page.locator(`${plot} svg`).getAttribute("aria-label"), /histogram of [\d,]+ calls/);
    const titles = await page.locator(`${plot} rect title`).allTextContents();
    assert.ok(titles.some((title) => /^[\d,]+ calls: .* to .* of CPU time$/.test(title)), titles);
    const counted = (name) => titles.filter((title) => title.endsWith(name))
      .reduce((sum, title) => sum + Number(title.replace(/ calls.*/, "").replaceAll(",", "")), 0);
    const caption = await text(`${plot} caption`);
    const calls = Number(/\(([\d,]+) calls/.exec(caption)[1].replaceAll(",", ""));
    assert.deepEqual([counted("CPU time"), counted("elapsed time")], [calls, calls]);
  });

  await check("the picture fits its side, and its labels do not overlap", async () => {
    assert.ok(await page.evaluate(() => document.body.scrollWidth <= innerWidth));
    const boxes = await page.locator(`${plot} svg text.middle`).evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]));
    boxes.slice(1).forEach(([left], i) => assert.ok(left > boxes[i][1], "labels overlap"));
  });

  await check("a context of it, and all contexts", async () => {
    await page.click("#tab-contexts");
    await page.waitForSelector("#panel-contexts .trow");
    assert.match(await text("#panel-contexts .side"), /Calls in all contexts/);
    await page.locator("#panel-contexts .trow").first().click();
    await page.waitForSelector('#panel-contexts .trow[aria-selected="true"]');
    await shot("d02-contexts");
    assert.match(await text("#panel-contexts .side"), /Calls in the selected context.*Calls in all contexts/s);
  });

  await check("in the dark, in a narrow window, and a method without", async () => {
    await page.click("#tab-methods");
    await page.click("#theme");
    await chooseMethod(plot);
    await shot("d03-dark");
    await page.setViewportSize({ width: 900, height: 700 });
    await shot("d04-narrow");
    assert.ok(await page.evaluate(() => document.body.scrollWidth <= innerWidth));
    await page.setViewportSize({ width: 1440, height: 900 });
    await chooseMethod(plot, false);
  });

  await check("the legend explains it", async () => {
    await page.keyboard.press("?");
    assert.match(await text("#legend"), /calls one by one/);
    await page.keyboard.press("Escape");
  });
});
