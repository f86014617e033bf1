// Uses the page of a result of `jprof scale` as a person does, in Chromium, and takes screenshots.
// The page is that of generate_growth.mjs.
//
//   node test/browser_growth.mjs FILE.html [--screenshots DIR]
//
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, waitForHash, painted }) => {
  const panel = "#panel-growth";
  const rows = page.locator(`${panel} .trow:not([hidden])`);
  const column = async (key) => {
    const titles = await page.locator(`${panel} .thead button`).evaluateAll((all) =>
      all.map((one) => one.dataset.key));
    return rows.evaluateAll((all, i) => all.map((row) => row.children[i].textContent),
                            titles.indexOf(key));
  };

  await check("one tab: the plot, its legend, the table", async () => {
    await page.waitForSelector(`${panel} .trow`);
    await shot("g01-growth");
    assert.deepEqual(await page.locator("#tabs button:visible").allInnerTexts(), ["Growth"]);
    assert.ok(await painted("growth") > 1000);
    assert.equal(await rows.count(), 6);
    const all = await text(panel);
    for (const one of ["Table.find n^2.00", "Sort.less n log n", "2 contexts", "n^2.02 ± 0.12"]) {
      assert.ok(all.includes(one), one);
    }
  });

  await check("the table sorts, and names are no HTML", async () => {
    const button = (key) => page.click(`${panel} .thead button[data-key="${key}"]`);
    await button("calls ~");
    assert.deepEqual((await column("calls ~")).slice(0, 4), ["n^2.00", "n^2.00", "n log n", "n^1.00"]);
    await button("%10n");
    assert.deepEqual((await column("%10n")).slice(0, 2), ["92.0", "91.9"]);
    assert.ok((await column("method")).some((one) => one.includes("<b>Evil<b>")));
  });

  await check("a row is described and added to the plot", async () => {
    await rows.nth(2).click();
    await waitForHash(/row=3/);
    assert.match(await text(`${panel} .details`), /Sort\.less.*n = 8000 103,726/s);
    await page.click(`${panel} .trow >> text=Table.add`);
    await waitForHash(/row=2/);
    assert.ok((await text(`${panel} .legend`)).includes("Table.find < Table.add n^1.00"));
    await shot("g02-context");
  });

  await check("times, names, a point's tooltip, a click on it", async () => {
    await page.selectOption('select[aria-label="measure"]', "own time");
    await waitForHash(/measure=own/);
    await shot("g03-times");
    await page.selectOption("#names", "short");
    assert.ok((await column("method")).includes("Table.find"));
    const place = await page.evaluate((selector) => {
      const canvas = document.querySelector(`${selector} canvas`);
      const { left, top, width, height } = canvas.getBoundingClientRect();
      for (let x = left + 84; x < left + width; x += 6) {
        for (let y = top + 8; y < top + height; y += 6) {
          canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
          if (document.querySelector(`${selector} p[role="status"]`).innerText.includes("Sort.less")) {
            return [x, y];
          }
        }
      }
      return null;
    }, panel);
    assert.ok(place, "no point has Sort.less");
    await page.mouse.click(...place);
    await waitForHash(/row=3/);
    await shot("g04-point");
  });

  await check("keys, the dark, a narrow window", async () => {
    await page.focus(`${panel} .table`);
    for (const key of ["Home", "ArrowDown"]) await page.keyboard.press(key);
    await page.keyboard.press("t");
    await shot("g05-dark");
    await page.click("#help-button");
    assert.match(await text("#legend"), /straight line.*Columns/s);
    await shot("g06-legend");
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 900, height: 700 });
    await shot("g07-narrow");
  });
});
