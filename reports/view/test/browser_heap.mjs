// Uses the page of a heap dump as a person does, in Chromium, and takes screenshots.
//
//   node test/browser_heap.mjs FILE.html [--screenshots DIR]
//
// Exit status as of browser.mjs.
import assert from "node:assert/strict";
import { usePage } from "./person.mjs";

await usePage(async ({ page, check, shot, text, rowCount, settled, waitForHash,
                       painted }) => {
  const canvas = page.locator("#panel-treemap canvas");
  const crumbs = () => page.locator("#panel-treemap .crumbs button").count();
  const middle = async () => {
    const box = await canvas.boundingBox();
    return [box.x + box.width / 3, box.y + box.height / 3];
  };

  await check("first screen: totals, classes that hold most, the map", async () => {
    await shot("h01-map");
    assert.match(await text("#total"), /bytes/);
    assert.match(await text("#facts"), /live/);
    assert.ok(await page.locator("#hottest .hot").count() >= 1);
    assert.ok(await painted("treemap") > 1000, "the map is empty");
    assert.match(await text("#panel-treemap .tools"), /Objects below .* %\) are joined by class/);
  });

  await check("a click descends, hovering describes, Escape and the path lead back", async () => {
    await page.mouse.move(...await middle());
    await settled();
    assert.match(await text("#panel-treemap .details"), /shallow.*retained.*objects/s);
    await shot("h02-hover");
    await page.mouse.click(...await middle());
    await waitForHash(/zoom=\d+/);
    assert.ok(await crumbs() >= 2);
    await shot("h03-inside");
    assert.ok(await painted("treemap") > 1000);
    await page.keyboard.press("Escape");
    await page.locator("#panel-treemap .tools button").first().click();
    await waitForHash(/zoom=/, false);
    await canvas.focus();
    for (const key of ["ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown", "Enter", "ArrowUp",
                       "Escape", "0"]) await page.keyboard.press(key);
    await waitForHash(/zoom=/, false);
    await page.selectOption("#measure", "objects");
    await shot("h04-objects");
    await page.selectOption("#measure", "bytes");
  });

  await check("dominators: rows open and close, columns sort", async () => {
    await page.click("#tab-tree");
    assert.equal(await text("#tab-tree"), "Dominators");
    await page.waitForSelector("#panel-tree .trow");
    await page.click("text=Expand hot path");
    await shot("h05-dominators");
    const rows = () => rowCount("#panel-tree .table");
    await page.focus("#panel-tree .table");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    const closed = await rows();
    await page.keyboard.press("ArrowRight");
    assert.ok(await rows() >= closed);
    await page.click('#panel-tree .thead button[data-key="beside.objects"]');
    await page.click('#panel-tree .thead button[data-key="cum"]');
  });

  await check("classes, packages and loaders", async () => {
    await page.click("#tab-groups");
    await page.waitForSelector("#panel-groups .trow");
    const first = page.locator("#panel-groups .trow .name").first();
    assert.equal(await first.getAttribute("title"),
                 await page.locator("#hottest .hot").first().getAttribute("title"));
    await shot("h06-classes");
    for (const [by, name] of [["loader", "boot"], ["package", "java.lang"],
                              ["class", "java.lang.String"]]) {
      await page.click("#tab-groups");
      await page.selectOption('#panel-groups select[aria-label="by"]', by);
      const row = page.locator("#panel-groups .trow", { hasText: name }).first();
      await row.waitFor();
      await shot(`h07-${by}`);
      await row.dblclick();
      if (by === "loader") {  // names do not tell which classes are its own
        assert.equal(await page.locator("#panel-treemap").isVisible(), false);
        continue;
      }
      await waitForHash(/search=/);
      await page.waitForSelector("#panel-treemap canvas");
      assert.match(await text("#matches"), /classes, [1-9][\d,]* rows/);
      await shot(`h08-found-${by}`);
      await page.fill("#search", "");
      await waitForHash(/search=/, false);
    }
  });

  await check("suspects lead to the map and the tree", async () => {
    await page.click("#tab-suspects");
    await shot("h09-suspects");
    const links = page.locator("#panel-suspects button");
    if (await links.count() === 0) return;
    await links.nth(0).click();
    await waitForHash(/zoom=\d+/);
    await page.click("#tab-suspects");
    await links.nth(1).click();
    await page.waitForSelector('#panel-tree [aria-selected="true"]');
  });

  await check("each tab explains itself, also in the dark", async () => {
    await page.click("#theme");
    for (const tab of ["treemap", "tree", "groups", "suspects"]) {
      await page.click(`#tab-${tab}`);
      await shot(`h10-dark-${tab}`);
      await page.keyboard.press("?");
      assert.equal(await text("#help-title"), await text(`#tab-${tab}`));
      assert.ok((await text("#legend")).length > 60);
      await shot(`h11-legend-${tab}`);
      await page.keyboard.press("Escape");
    }
    await page.setViewportSize({ width: 900, height: 700 });
    await page.click("#tab-treemap");
    await shot("h12-narrow");
  });
});
