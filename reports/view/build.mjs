// Builds view.html: the template with its style sheet and script inlined. The line <!--DATA-->
// stays; the writer of a report replaces it by the data.
//
//   node build.mjs OUT [--no-check]     OUT: a directory; --no-check leaves out the type check
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out || out.startsWith("-")) {
  console.error("usage: node build.mjs OUT [--no-check]");
  process.exit(2);
}

if (!process.argv.includes("--no-check")) {
  const tsc = join(here, "node_modules", "typescript", "bin", "tsc");
  const checked = spawnSync(process.execPath, [tsc, "--noEmit", "-p", here], { stdio: "inherit" });
  if (checked.status !== 0) process.exit(1);
}

const target = ["chrome100", "firefox113", "safari16.4"];
const script = await build({
  entryPoints: [join(here, "src", "app.ts")],
  bundle: true, minify: true, write: false, format: "iife", charset: "utf8", target,
  logLevel: "warning",
});
const source = readFileSync(join(here, "src", "style.css"), "utf8");
const style = await transform(source, { loader: "css", minify: true, target });
const template = readFileSync(join(here, "src", "template.html"), "utf8");

const code = script.outputFiles[0].text.replaceAll("</script", "<\\/script").trim();
// A function as replacement: `$` in the script has no meaning.
const html = template
  .replace("/*STYLE*/", () => style.code.trim())
  .replace("/*SCRIPT*/", () => code);
if (html.split("\n").filter((line) => line === "<!--DATA-->").length !== 1) {
  console.error("build.mjs: the template has no single line <!--DATA-->");
  process.exit(1);
}
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "view.html"), html);
