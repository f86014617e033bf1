#include "reports/print/html_page.h"

#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

// The content security policy makes sure that the page loads nothing.
constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --page: #fff; --text: #1b1b1b; --soft: #666; --line: #ddd; --a: #5b7fb8; --b: #c77f2a;
  --more: 205, 60, 50; --less: 40, 110, 200; }
@media (prefers-color-scheme: dark) {
  :root { --page: #17181a; --text: #e4e4e4; --soft: #9a9a9a; --line: #35373a; --a: #7fa2dc; --b: #e0a355;
    --more: 235, 95, 85; --less: 95, 160, 245; } }
body { background: var(--page); color: var(--text); font: 14px/1.45 system-ui, sans-serif; margin: 1.5em; }
h1 { font-size: 1.3em; } h2 { font-size: 1.1em; margin-top: 1.8em; }
dt { font-weight: 600; float: left; clear: left; width: 7em; } dd { margin: 0 0 .2em 7em; }
.note, .within { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .15em .6em; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { cursor: pointer; position: sticky; top: 0; background: var(--page); }
th:last-child, td:last-child { text-align: left; font-family: ui-monospace, monospace; font-size: 12px; }
td:last-child { width: 100%; max-width: 0; min-width: 30em; overflow: hidden; text-overflow: ellipsis; }
.r { display: flex; align-items: center; gap: .6em; font: 12px/1.5 ui-monospace, monospace; white-space: nowrap; }
.r.folded .n::before { content: "+ "; } .r[hidden] { display: none; }
.r:hover { outline: 1px solid var(--line); }
.r .v { flex: 0 0 4.5em; text-align: right; }
.r .bars { flex: 0 0 160px; }
.r .bars i { display: block; height: 6px; }
.r .bars .a { background: var(--a); } .r .bars .b { background: var(--b); }
.r .n { padding: 0 .3em 0 calc(var(--l) * .9em); cursor: pointer; }
.more { background: rgba(var(--more), var(--d)); } .less { background: rgba(var(--less), var(--d)); }
</style>
<title>)";

constexpr std::string_view kScript = R"(<script>
"use strict";
for (const th of document.querySelectorAll("th")) th.addEventListener("click", () => {
  const body = th.closest("table").tBodies[0], at = th.cellIndex, up = th.dataset.up !== "1";
  th.dataset.up = up ? "1" : "0";
  const key = (row) => { const v = row.cells[at].dataset.v; return v === undefined ? row.cells[at].textContent : +v; };
  const order = (x, y) => x < y ? -1 : x > y ? 1 : 0;
  const rows = [...body.rows].sort((x, y) => order(key(x), key(y)) * (up ? -1 : 1));
  body.append(...rows);
});
const rows = [...document.querySelectorAll(".r")], level = (row) => +row.dataset.l;
rows.forEach((row, i) => row.addEventListener("click", () => {
  const fold = row.classList.toggle("folded");
  for (let j = i + 1; j < rows.length && level(rows[j]) > level(row); ++j) {
    rows[j].hidden = fold;
    if (!fold) rows[j].classList.remove("folded");
  }
}));
</script>
)";

}  // namespace

std::string EscapedHtml(std::string_view text) {
  std::string escaped;
  for (const char c : profile::CleanText(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

void BeginPage(std::string_view title, Output& out) {
  out.Text(kHead);
  out.Text(EscapedHtml(title));
  out.Text("</title>\n</head>\n<body>\n<h1>");
  out.Text(EscapedHtml(title));
  out.Text("</h1>\n");
}

void EndPage(Output& out) {
  out.Text(kScript);
  out.Text("</body>\n</html>\n");
}

}  // namespace jprof::reports
