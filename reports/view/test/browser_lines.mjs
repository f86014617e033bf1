// Uses the source lines of a page as a person does, in Chromium, and takes screenshots.
//
//   node test/browser_lines.mjs FILE.html [--screenshots DIR]
//
// FILE.html has samples and calls of lines, as generate.mjs makes it with --kind combined --lines.
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, waitForHash, chooseMethod }) => {
  const lines = "#panel-methods .lines";
  const NONE = '#panel-methods .side p:has-text("Source lines: none")';
  await check("a method with lines: numbers, source, calls", async () => {
    await page.click("#tab-methods");
    await page.waitForSelector("#panel-methods .trow");
    assert.match(await text("#panel-methods .side"), /Select a method/);
    await chooseMethod(lines);
    await shot("l01-lines");
    assert.deepEqual(await page.locator(`${lines} th`).allInnerTexts(),
                     ["line", "calls", "samples", "cumulative", "+-", "%", "source"]);
    assert.match(await text(`${lines} caption`),
                 /^Source lines of \w+\.java \(of the whole profile/);
    const rows = page.locator(`${lines} tbody tr`);
    assert.equal(await page.locator(`${lines} tbody tr:not(.call)`).count(), 12);
    assert.equal(await rows.first().locator("td").first().innerText(), "-");
    assert.match(await rows.nth(1).innerText(), /^\d+\s.*int value1 = table\.find/s);
    for (const cell of await page.locator(`${lines} td:not(.name)`).all()) {
      assert.ok(await cell.evaluate((one) => one.scrollWidth <= one.clientWidth),
                "a number is cut");
    }
  });

  await check("a name of a called method selects it", async () => {
    const link = page.locator(`${lines} .call button`).first();
    const title = await link.getAttribute("title");
    assert.match(title, /, called at bytecode \d+$/);
    await link.click();
    await page.waitForFunction(
      (name) => document.querySelector("#panel-methods h2").textContent === name,
      title.replace(/, called at.*/, ""));
    await shot("l02-called");
  });

  await check("names in another form, with a method that has no lines", async () => {
    await page.selectOption("#names", "jvm");
    await chooseMethod(lines);
    assert.match(await page.locator(`${lines} .call button`).first().getAttribute("title"), /\//);
    await shot("l03-jvm");
    await page.selectOption("#names", "full");
    await chooseMethod(NONE);
    await shot("l04-none");
  });

  await check("in the dark, and in a narrow window", async () => {
    await page.click("#theme");
    await chooseMethod(lines);
    await shot("l05-dark");
    await page.setViewportSize({ width: 900, height: 700 });
    await shot("l06-narrow");
    assert.ok(await page.evaluate(() => document.body.scrollWidth <= innerWidth));
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await check("the legend explains the columns; the link keeps the method", async () => {
    await page.keyboard.press("?");
    assert.match(await text("#legend"), /samples of a line/);
    await shot("l07-legend");
    await page.keyboard.press("Escape");
    await waitForHash(/method=/);
  });
});
