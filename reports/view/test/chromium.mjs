// Debian's Chromium for the tests, from file:// and without a network.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser",
                "/usr/bin/google-chrome"];

export function findChromium() {
  return PLACES.find((path) => path && existsSync(path));
}

export async function launch() {
  const { chromium } = await import("playwright-core");
  const executablePath = findChromium();
  if (!executablePath) {
    console.error("no Chromium: apt-get install chromium, or set CHROMIUM to its path");
    process.exit(77);
  }
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

const PATIENCE_MS = 120000;  // the test's machine may be busy

/** Runs in the page before its own code. Has the number of timers and frames that the page has
 * requested and that have not run yet, as `pendingWork()`. */
function countPendingWork() {
  const pending = new Set();
  const count = (requestName, cancelName) => {
    const [request, cancel] = [window[requestName], window[cancelName]];
    window[requestName] = (action, ...more) => {
      const key = { of: requestName };
      key.id = request((...values) => {
        pending.delete(key);
        action(...values);
      }, ...more);
      pending.add(key);
      return key.id;
    };
    window[cancelName] = (id) => {
      for (const key of pending) if (key.id === id && key.of === requestName) pending.delete(key);
      cancel(id);
    };
  };
  count("setTimeout", "clearTimeout");
  count("requestAnimationFrame", "cancelAnimationFrame");
  window.pendingWork = () => pending.size;
}

/** Waits until the page shows what follows from all that was done to it: until it has drawn a frame
 * and has no timer and no frame left that it has requested. */
export async function settle(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
  await page.waitForFunction(() => window.pendingWork() === 0);
}

/** A page that records what must not happen: errors, and requests to anything but files. */
export async function openPage(browser, file, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(countPendingWork);
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(`page error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("file://")) faults.push(`request: ${request.url()}`);
  });
  const url = pathToFileURL(resolve(file)).href;
  await page.goto(url + hash);
  await page.waitForFunction(() => performance.getEntriesByName("jprof:first-frame").length > 0);
  return { page, faults, url, context };
}
