// Prints the option table of docs/AGENT_OPTIONS.md, for tests/docs_tables.py.
#include <cstdio>

#include "options/option_table.h"

int main() { std::fputs(jprof::options::OptionsMarkdown().c_str(), stdout); }
