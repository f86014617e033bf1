// Uses the tab Timeline as a person does, in Chromium, and takes screenshots.
//
//   node test/browser_timeline.mjs FILE.html [--screenshots DIR]
//
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, settled, waitForHash, painted }) => {
  const canvas = page.locator("#panel-timeline canvas").first();
  const table = page.locator('#panel-timeline .table[aria-label="Groups of stretches"]');
  const field = page.locator("[data-field=only]");
  const details = () => text("#panel-timeline .details");
  const choose = (label, value) =>
    page.selectOption(`#panel-timeline select[aria-label="${label}"]`, value);
  const number = (value) => Number(value.replaceAll(",", ""));
  const selected = async () => number((await text("#panel-timeline .statistics caption"))
    .match(/^[\d,]+/)[0]);
  const fill = async (value) => {
    await field.fill(value);
    await settled();
  };
  const countOf = async (name) => number(await table.locator(`.trow:has(.name[title^="${name}"])`)
    .locator(".number").nth(4).innerText());
  let all = 0;

  await check("threads, processors, strips, sums", async () => {
    await page.click("#tab-timeline");
    await page.waitForSelector("#panel-timeline .trow");
    await shot("t01-timeline");
    assert.ok(await painted("timeline") > 5000, "the timeline is empty");
    all = await selected();
    assert.ok(all > 0);
    assert.match(await text("#panel-timeline .statistics"), /duration.*waited.*ready/s);
  });

  await check("a stretch: who ran where and when, and why it ended", async () => {
    const box = await canvas.boundingBox();
    let found = "";
    for (let y = 30; y < box.height && !/then/.test(found); y += 9) {
      for (let x = 200; x < box.width && !/then/.test(found); x += 60) {
        await page.mouse.move(box.x + x, box.y + y);
        found = await details();
      }
    }
    assert.match(found, /tid \d+.*on processor.*from.*for.*then/s);
    await page.mouse.down();
    await page.mouse.up();
    await shot("t02-pinned");
    await page.mouse.down();
    await page.mouse.up();
  });

  await check("zoom by wheel and keys, everything again", async () => {
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 600, box.y + 120);
    for (let i = 0; i < 12; ++i) await page.mouse.wheel(0, -150);
    await shot("t03-zoomed");
    assert.ok(await painted("timeline") > 1000);
    await canvas.focus();
    for (const key of ["w", "s", "a", "d", "ArrowRight", "ArrowDown", "ArrowUp", "PageDown", "0"]) {
      await page.keyboard.press(key);
    }
  });

  await check("a selection by an expression, and its mistakes", async () => {
    await fill("duration > 100us && !(wait=sleep)");
    await waitForHash(/only=duration/);
    const some = await selected();
    assert.ok(some > 0 && some < all, `${some} of ${all}`);
    assert.match(await text("#panel-timeline .statistics"), /[+-][\d.]+/);
    await shot("t04-selection");
    await fill("duration > ");
    assert.match(await text("#panel-timeline .problem"), /position/);
    assert.equal(await selected(), some, "what was selected stays");
    await fill("");
    assert.equal(await selected(), all);
  });

  await check("a selection by the picture", async () => {
    const box = await canvas.boundingBox();
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + 400, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + box.height - 30, { steps: 4 });
    await shot("t05-dragging");
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await waitForHash(/begin/);
    assert.match(await field.inputValue(), /begin < [\d.]+[mun]s && next > [\d.]+[mun]s && tid=\d+/);
    const some = await selected();
    assert.ok(some > 0 && some < all);
    await canvas.focus();
    await page.keyboard.press("Escape");
    await waitForHash(/only=/, false);
    assert.equal(await selected(), all);
  });

  await check("selections by tables; and, or, minus", async () => {
    const first = table.locator(".trow").first();
    const name = await first.locator(".name").getAttribute("title");
    const count = await countOf(name);
    await first.click();
    await waitForHash(/only=tid/);
    assert.equal(await selected(), count);
    await choose("by", "waits");
    await choose("a click", "and");
    await table.locator(".trow").first().click();
    await waitForHash(/&&|%26%26|wait=/);
    const both = await selected();
    assert.ok(both > 0 && both <= count);
    await shot("t06-waits");
    await fill("");
    await choose("a click", "minus");
    await choose("by", "contexts");
    const most = await table.locator(".trow").first().locator(".number").nth(4).innerText();
    await table.locator(".trow").first().click();
    await settled();
    assert.equal(await selected(), all - number(most));
    await choose("a click", "only");
    for (const by of ["processors", "wakers", "threads"]) await choose("by", by);
    await fill("");
  });

  await check("sets: saved, combined, removed", async () => {
    const save = async (selection, name) => {
      await fill(selection);
      await page.fill('[aria-label="Name of the set"]', name);
      await page.click("#panel-timeline button:text-is('Save')");
      await waitForHash(new RegExp(`s\\.${name}=`));
      return selected();
    };
    const a = await save("cpu=0", "zero");
    const b = await save("duration > 20us", "long");
    const count = async (selection) => {
      await fill(selection);
      return selected();
    };
    const [or, and, minus] = [await count("zero or long"), await count("zero && long"),
                              await count("zero minus long")];
    assert.equal(or, a + b - and);
    assert.equal(minus, a - and);
    await shot("t07-sets");
    await page.click('[title="Remove zero"]');
    await settled();
    assert.match(await text("#panel-timeline .problem"), /zero/);
    await fill("");
    await page.click('[title="Remove long"]');
    await waitForHash(/s\.long/, false);
  });

  await check("a computed metric: statistics, strip, scatter plot", async () => {
    await page.fill('[aria-label="New metric of stretches"]', "part = ready / (duration + ready)");
    await page.click("#panel-timeline button:text-is('Add')");
    await waitForHash(/r\.part=/);
    assert.match(await text('#panel-timeline tr[data-metric="part"]'), /part/);
    await choose("strip", "part");
    await fill("part > 0.5");
    assert.ok(await selected() < all);
    await fill("");
    await choose("by", "scatter plot");
    await choose("up", "part");
    await settled();
    assert.match(await text("#panel-timeline .lower .lead"), /Pearson's r = -?[\d.]+ over [\d,]+/);
    await shot("t08-scatter");
    const plot = page.locator("#panel-timeline .plot canvas");
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + 90, box.y + 15);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height - 50, { steps: 3 });
    await page.mouse.up();
    await settled();
    assert.match(await field.inputValue(), /duration >= .*part <= /);
    assert.ok(await selected() < all);
    await shot("t09-scatter-selection");
    await fill("");
    await choose("by", "threads");
  });

  await check("other programs, the dark, the legend, a narrow window", async () => {
    const others = page.locator("#panel-timeline >> text=all programs");
    if (await others.count() > 0) {
      await others.click();
      await settled();
      assert.ok(await selected() > all);
      await others.click();
    }
    await page.click("#theme");
    await fill("duration > 50us");
    await shot("t10-dark");
    await page.click("#help-button");
    assert.ok((await text("#legend")).length > 200);
    await shot("t11-legend");
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 900, height: 700 });
    await shot("t12-narrow");
  });

  await check("a link shows the same", async () => {
    const before = await selected();
    await waitForHash(/only=duration/);
    await page.reload();
    await page.waitForSelector("#panel-timeline .trow");
    assert.equal(await selected(), before);
  });
});
