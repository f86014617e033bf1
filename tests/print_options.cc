// Prints the table of options as docs/AGENT_OPTIONS.md has it: for tests/docs_tables.py.
#include <cstdio>

#include "options/option_table.h"

int main() { std::fputs(jprof::agent::OptionsMarkdown().c_str(), stdout); }
