"""Source packages of Debian for the benchmarks, fetched by apt with a state of its own."""
import glob
import os
import re
import shutil
import subprocess

import measure

SKIP = measure.jvms.skip

CONFIGURATION = """APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::IndexTargets::deb::Packages::DefaultEnabled "false";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources/sources.list";
Dir::Etc::sourceparts "{folder}/sources";
Dir::Etc::preferences "{folder}/none/preferences";
Dir::Etc::preferencesparts "{folder}/none";
"""


def cache():
    """The folder that keeps what was fetched and built between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("JPROF_HOOK_PROGRAMS") or os.path.join(base, "jprof", "hook-programs")


def release():
    with open("/etc/os-release", encoding="utf-8") as file:
        found = re.search(r"^VERSION_CODENAME=(.*)$", file.read(), re.M)
    return found[1].strip('"') if found else ""


def with_sources(text, name):
    """The text of one file of apt sources, with the source packages of each archive."""
    if name.endswith(".sources"):
        return re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.M)
    lines = [line for line in text.splitlines() if re.match(r"deb\s", line)]
    return "".join(re.sub(r"^deb\s", "deb-src ", line) + "\n" for line in lines)


def prepare(folder):
    """Writes a configuration of apt that uses this machine's archives and changes none of its
    files. Returns the environment for apt."""
    shutil.rmtree(os.path.join(folder, "sources"), ignore_errors=True)
    for name in ("state/lists/partial", "cache/archives/partial", "sources", "none"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    open(os.path.join(folder, "status"), "w", encoding="utf-8").close()
    word = re.compile(rf"(^|\s){re.escape(release())}(\s|$)", re.M)
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*")]:
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if word.search(text):
            target = os.path.join(folder, "sources", os.path.basename(path))
            with open(target, "w", encoding="utf-8") as file:
                file.write(with_sources(text, path))
    path = os.path.join(folder, "apt.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CONFIGURATION.format(folder=folder))
    return {**os.environ, "APT_CONFIG": path}


def apt(words, environment, directory):
    done = subprocess.run(["apt-get", "-q", *words], env=environment, cwd=directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode == 0, done.stdout


def tree(package):
    """The unpacked source of a Debian package, with Debian's patches; fetched the first time.
    Skips the benchmark if it cannot be fetched."""
    place = os.path.join(cache(), "sources", package)
    done = os.path.join(place, ".complete")
    if not os.path.exists(done):
        for tool in ("apt-get", "dpkg-source"):
            if not shutil.which(tool):
                SKIP(f"{tool} is not installed: apt-get install apt dpkg-dev")
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        environment = prepare(os.path.join(cache(), "apt"))
        for words in (["update"], ["source", package]):
            good, text = apt(words, environment, place)
            if not good:
                reason = re.search(r"^[EW]: .*", text, re.M)
                SKIP(f"cannot fetch the source of {package}: "
                     f"{reason[0] if reason else text[-200:]}")
        open(done, "w", encoding="utf-8").close()
    return next(path for path in glob.glob(os.path.join(place, "*")) if os.path.isdir(path))
