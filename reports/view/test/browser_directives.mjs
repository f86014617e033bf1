// Uses the page of `jprof optimize view` as a person does, in Chromium, and takes screenshots. The
// page is that of generate_directives.mjs.
//
//   node test/browser_directives.mjs FILE.html [--screenshots DIR]
//
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, waitForHash, painted }) => {
  const rows = page.locator("#panel-directives .trow:not([hidden])");
  const details = "#panel-directives .details";
  const column = async (key) => {
    const titles = await page.locator("#panel-directives .thead button").evaluateAll((all) =>
      all.map((one) => one.dataset.key));
    return rows.evaluateAll((all, i) => all.map((row) => row.children[i].textContent),
                            titles.indexOf(key));
  };
  /** Moves the mouse to the mark whose tooltip has the text. */
  const find = async (wanted) => {
    const place = await page.evaluate((text) => {
      const plot = document.querySelector("#panel-directives .benefits > .plot");
      const canvas = plot.querySelector("canvas");
      const { left, top, width, height } = canvas.getBoundingClientRect();
      for (let x = left + 84; x < left + width; x += 8) {
        for (let y = top + 8; y < top + height; y += 8) {
          canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
          const tip = plot.querySelector(".tip");
          if (!tip.hidden && tip.innerText.includes(text)) return [x, y];
        }
      }
      return null;
    }, wanted);
    assert.ok(place, `no mark has ${wanted}`);
    await page.mouse.move(...place);
  };

  await check("one tab: the plot, the runs, the directives", async () => {
    await page.waitForSelector("#panel-directives .trow");
    await shot("d01-directives");
    assert.deepEqual(await page.locator("#tabs button:visible").allInnerTexts(), ["Directives"]);
    assert.ok(await painted("directives") > 1000);
    assert.equal(await rows.count(), 6);
    assert.equal(await page.locator("#panel-directives .runs canvas").count(), 2);
    const all = await text("#panel-directives");
    for (const one of ["validated", "applied", "withdrawn", "as predicted", "half of it",
                       "Only in the table: 1 directive", "without directives", "not compared"]) {
      assert.ok(all.includes(one), one);
    }
  });

  await check("the table sorts, and names are no HTML", async () => {
    const button = (key) => page.click(`#panel-directives .thead button[data-key="${key}"]`);
    await button("observed");
    const shown = (await column("observed")).filter((one) => /^-?[\d,]+$/.test(one));
    const values = shown.map((one) => Number(one.replaceAll(",", "")));
    assert.deepEqual(values, values.toSorted((a, b) => b - a));
    await button("state");
    const states = await column("state");
    assert.deepEqual(states, states.toSorted());
    assert.ok((await column("setting")).some((one) => one.includes("<b>Small</b>")));
  });

  await check("a mark has a tooltip, and a click selects its row", async () => {
    await find("io.c:40");
    const tip = await text("#panel-directives .tip");
    for (const one of ["site app+0x22f0", "65,536", "12,000 (3,000 to 21,000) in 12 runs", "withdrawn"]) {
      assert.ok(tip.includes(one), one);
    }
    await shot("d02-tooltip");
    await page.mouse.down();
    await page.mouse.up();
    await waitForHash(/row=1/);
    assert.match(await text(details), /64 huge pages.*less than half/s);
    assert.match(await text('#panel-directives .trow[aria-selected="true"]'), /app\+0x22f0/);
  });

  await check("axes, the figure, another program", async () => {
    await page.selectOption('select[aria-label="axes"]', "false");
    await waitForHash(/logarithmic=false/);
    await shot("d03-linear");
    await page.selectOption('select[aria-label="figure"]', "collection pauses");
    await find("-49.0 ms (-376 ms to 278 ms)");
    await shot("d04-times");
    await page.selectOption('select[aria-label="program"]', "quiet");
    await waitForHash(/row=/, false);
    assert.equal(await rows.count(), 0);
    assert.match(await text("#panel-directives"), /No directive was proposed/);
    await shot("d05-nothing");
    await page.selectOption('select[aria-label="program"]', "app");
  });

  await check("keys, the dark, a narrow window", async () => {
    await page.focus("#panel-directives .table");
    for (const key of ["Home", "ArrowDown"]) await page.keyboard.press(key);
    await page.keyboard.press("t");
    await shot("d06-dark");
    await page.click("#help-button");
    assert.match(await text("#legend"), /solid line.*Columns/s);
    await shot("d07-legend");
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 900, height: 700 });
    await shot("d08-narrow");
  });
});
