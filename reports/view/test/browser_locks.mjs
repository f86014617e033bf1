// Uses the page of a profile of `jprof locks` as a person does, in Chromium, and takes screenshots.
//
//   node test/browser_locks.mjs FILE.html [--screenshots DIR]
//
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, settled, waitForHash }) => {
  const [locks, pairs] = ["Locks", "Who waits for whom"].map((name) =>
    page.locator(`#panel-locks .table[aria-label="${name}"]`));

  await check("first tab: the table of locks, the most contended first", async () => {
    await page.waitForSelector("#panel-locks .trow");
    assert.equal(await page.getAttribute("#tab-locks", "aria-selected"), "true");
    await shot("l01-locks");
    await settled();
    const slow = await locks.locator(".trow .number:nth-child(4)").allInnerTexts();
    const values = slow.map((one) => Number(one.replaceAll(",", "")));
    assert.deepEqual(values, values.toSorted((a, b) => b - a));
    await locks.locator('.thead button[data-key="GETS"]').click();
    await locks.locator('.thead button[data-key="SLOW"]').click();
  });

  await check("who waits for whom, of one lock and of all", async () => {
    const rows = async () => {
      await settled();
      return Number(await pairs.getAttribute("aria-rowcount"));
    };
    const all = await rows();
    assert.ok(all > 1, "nobody waited");
    await locks.locator(".trow").first().click();
    await waitForHash(/method=/);
    assert.ok(await rows() <= all);
    assert.match(await text("#panel-locks .side"), /is taken/);
    await pairs.locator(".trow").first().click();
    assert.match(await text("#panel-locks .side"), /Waiter.*Owner/s);
    await shot("l02-pair");
    await page.click("text=All locks");
    await waitForHash(/method=/, false);
    assert.equal(await rows(), all);
  });

  await check("contradicting orders", async () => {
    assert.match(await text("#panel-locks .side"), /Contradicting orders (\(\d+\)|none)/);
  });

  await check("keys, names, the dark", async () => {
    await locks.focus();
    for (const key of ["Home", "ArrowDown"]) await page.keyboard.press(key);
    await page.selectOption("#names", "jvm");
    await page.keyboard.press("t");
    await page.click("#theme");
    await page.click("#theme");
    await shot("l03-dark");
    await page.click("#help-button");
    assert.ok((await text("#legend")).length > 60);
    await shot("l04-legend");
    await page.keyboard.press("Escape");
    await page.selectOption("#names", "full");
    await page.setViewportSize({ width: 900, height: 700 });
    await shot("l05-narrow");
  });

  await check("the other tabs have the locks, too", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    for (const tab of ["flame", "tree", "methods"]) {
      await page.click(`#tab-${tab}`);
      await shot(`l06-${tab}`);
    }
  });
});
