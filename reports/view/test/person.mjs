// What tests share that use a page as a person does: its checks, and screenshots.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch, openPage, settle } from "./chromium.mjs";

/** Opens the page that the command line names and runs the test. Arguments of the command line are
 * FILE.html [--screenshots DIR] and what the test understands. */
export async function usePage(run) {
  const [file, ...rest] = process.argv.slice(2);
  const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
  if (!file || file.startsWith("-")) {
    console.error(`usage: ${process.argv[1]} FILE.html [--screenshots DIR]`);
    process.exit(2);
  }
  const shots = option("--screenshots");
  if (shots) mkdirSync(shots, { recursive: true });
  const browser = await launch();
  const { page, faults, url, context } = await openPage(browser, file);
  const settled = () => settle(page);
  const shot = async (name) => {
    await settled();
    if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
  };
  const check = async (name, steps) => {
    await steps();
    assert.deepEqual(faults, [], name);
    console.log(`ok ${name}`);
  };
  /** The address follows the state with a delay. */
  const waitForHash = (pattern, expected = true) => page.waitForFunction(
    ([source, wanted]) => new RegExp(source).test(decodeURIComponent(location.hash)) === wanted,
    [pattern.source, expected]);
  /** How many pixels of a tab's main canvas have another colour than its last one. */
  const painted = (panel = "flame") => settled().then(() => page.evaluate((name) => {
    const canvas = document.querySelector(`#panel-${name} canvas:not(.upper)`);
    const pixels = new Uint32Array(canvas.getContext("2d")
      .getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    let count = 0;
    for (const pixel of pixels) if (pixel !== pixels[pixels.length - 1]) ++count;
    return count;
  }, panel));
  /** Selects the first visible method for which the page shows the selector, or shows none. */
  const chooseMethod = async (selector, has = true) => {
    const rows = page.locator("#panel-methods .trow");
    for (let i = 0; i < await rows.count(); ++i) {
      await rows.nth(i).click();
      await page.waitForFunction((at) => document.querySelectorAll("#panel-methods .trow")[at]
        ?.getAttribute("aria-selected") === "true", i);
      await settled();
      if ((await page.locator(selector).count() > 0) === has) return;
    }
    assert.fail(`no visible method ${has ? "has" : "is without"} ${selector}`);
  };
  const isShown = (selector) => settled().then(() => page.locator(selector).isVisible());
  const rowCount = (table) => settled().then(() => page.getAttribute(table, "aria-rowcount"))
    .then(Number);
  const text = (selector) => settled().then(() => page.locator(selector).innerText());
  try {
    await run({ browser, file, url, page, option, rest, check, shot, text, isShown, rowCount, settled,
                waitForHash, painted, chooseMethod });
  } finally {
    await context.close();
    await browser.close();
  }
}
