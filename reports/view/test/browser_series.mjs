// Uses the heat map of a page with counts over time as a person does, in Chromium, and takes
// screenshots. The page is that of generate.mjs --series.
//
//   node test/browser_series.mjs FILE.html [--screenshots DIR]
//
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, waitForHash, painted }) => {
  const panel = "#panel-heat";
  const rows = page.locator(`${panel} .trow:not([hidden])`);
  const box = async () => page.locator(`${panel} canvas`).boundingBox();

  await check("the picture and the sums of all", async () => {
    await page.click("#tab-heat");
    await waitForHash(/view=heat/);
    assert.ok(await painted("heat") > 5000);
    await shot("s01-heat");
    assert.match(await text(`${panel} .span`), /^All: 0\.00 s to 60\.\d+ s; --window/);
    assert.ok(await rows.count() > 5);
  });

  await check("a cell has a tip, and dragging selects columns", async () => {
    const { x, y, width } = await box();
    const at = (part) => x + 260 + (width - 268) * part;
    await page.mouse.move(at(0.01), y + 5);
    assert.match(await text(`${panel} p.soft`), /from 0\.00 s to 1\.\d+ s.*time .*calls/s);
    await page.mouse.move(at(0.25), y + 40);
    await page.mouse.down();
    await page.mouse.move(at(0.4), y + 60, { steps: 4 });
    await page.mouse.up();
    await waitForHash(/span=1\d-2\d/);
    assert.match(await text(`${panel} .span`), /^Selected: 1\d\.\d+ s to 2\d\.\d+ s/);
    await shot("s02-selected");
  });

  await check("keys move and extend the selection", async () => {
    await page.focus(`${panel} canvas`);
    await page.keyboard.press("0");
    await waitForHash(/span=/, false);
    await page.keyboard.press("ArrowRight");
    await waitForHash(/span=0-0/);
    await page.keyboard.press("Shift+ArrowRight");
    await waitForHash(/span=0-1/);
    await page.keyboard.press("ArrowRight");
    await waitForHash(/span=1-2/);
    await page.keyboard.press("Escape");
    await waitForHash(/span=/, false);
  });

  await check("calls, a method, short names", async () => {
    await page.selectOption('select[aria-label="heat"]', "calls");
    await waitForHash(/heat=calls/);
    await shot("s03-calls");
    await rows.nth(1).click();
    await waitForHash(/method=/);
    await page.selectOption("#names", "short");
    await shot("s04-method");
  });

  await check("the dark, a narrow window", async () => {
    await page.keyboard.press("t");
    await shot("s05-dark");
    await page.setViewportSize({ width: 620, height: 700 });
    await shot("s06-narrow");
    const [needed, shown] = await page.locator("#quality-line").evaluate(
      ({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    assert.ok(needed <= shown, "the quality is not cut");
    assert.ok(await painted("heat") > 1000);
  });
});
