// Loads a page in Chromium and looks at the text of one element.
//
//   node test/load.mjs FILE.html ID TEXT
//
// Exit status 1: the page reported an error, opened a dialog or requested something other than a
// file, or the element has no such text. 77: there is no Chromium.
import assert from "node:assert/strict";
import { launch, openPage, settle } from "./chromium.mjs";

const [file, id, text] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, faults } = await openPage(browser, file);
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  await page.waitForFunction(() => document.getElementById("title").textContent !== "");
  assert.ok((await page.locator(`#${id}`).innerText()).includes(text),
            `#${id}: ${await page.locator(`#${id}`).innerText()}`);
  for (const tab of ["2", "3", "4", "5", "6", "1"]) await page.keyboard.press(tab);
  await settle(page);
  assert.deepEqual(faults, []);
} finally {
  await browser.close();
}
