// Uses the page of a profile of `jprof objects` as a person does, in Chromium, and takes
// screenshots.
//
//   node test/browser_objects.mjs FILE.html [--screenshots DIR]
//
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, settled, waitForHash }) => {
  await check("first screen: bytes and objects, a flame graph of bytes", async () => {
    await shot("o01-flame");
    assert.match(await text("#total"), /bytes.*objects/s);
    assert.deepEqual((await page.locator("#measure option").allInnerTexts()).slice(0, 3),
                     ["calls", "bytes", "objects"]);
    assert.equal(await page.inputValue("#measure"), "bytes");
  });

  await check("classes with the contexts that allocate them", async () => {
    await page.click("#tab-classes");
    await page.waitForSelector("#panel-classes .trow");
    await page.locator("#panel-classes .trow").first().click();
    await page.waitForSelector("#panel-classes .edges");
    await shot("o02-classes");
    await page.click('#panel-classes .thead button[data-key="of.objects"]');
    await page.selectOption("#names", "jvm");
    await settled();
    const names = await page.locator("#panel-classes .trow .name").allInnerTexts();
    assert.ok(names.some((name) => /^(BYTE|CHAR|INT|LONG)\[\]$/.test(name)), names.join(" "));
    await page.selectOption("#names", "full");
    await page.locator("#panel-classes .edges button").first().click();
    await page.waitForSelector('#panel-tree [aria-selected="true"]');
    await shot("o03-tree");
  });

  await check("widths by objects", async () => {
    await page.click("#tab-flame");
    await page.selectOption("#measure", "objects");
    await waitForHash(/measure=objects/);
    await shot("o04-objects");
  });

  await check("in the dark, with its legend", async () => {
    await page.click("#theme");
    await page.click("#tab-classes");
    await shot("o05-dark");
    await page.keyboard.press("?");
    await shot("o06-legend");
    await page.keyboard.press("Escape");
    await page.click("#tab-methods");
    await shot("o07-methods");
  });
});
