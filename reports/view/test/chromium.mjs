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

/** A page that records what must not happen: errors, and requests to anything but files. */
export async function openPage(browser, file, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
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
  await page.goto(url + hash, { timeout: 120000 });
  await page.waitForFunction(() => performance.getEntriesByName("jprof:first-frame").length > 0,
                             undefined, { timeout: 120000 });  // the test's machine may be busy
  return { page, faults, url, context };
}
