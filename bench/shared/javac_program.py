"""javac on sources of the JDK's module java.xml, the program of several benchmarks."""
import os
import shutil
import zipfile

import measure

PACKAGES = ("java.xml/com/sun/org/apache/xerces/", "java.xml/com/sun/org/apache/xalan/",
            "java.xml/")


def source_zip(jdk):
    """The src.zip of the JDK, or None: in the JDK, or where Debian installs it, by major
    version."""
    for path in (os.path.join(jdk.home, "lib", "src.zip"),
                 f"/usr/lib/jvm/openjdk-{jdk.major}/src.zip",
                 f"/usr/lib/jvm/openjdk-{jdk.major}/lib/src.zip"):
        if os.path.exists(path):
            return path
    return None


def unpacked(args, name, memory, disk):
    """For each JDK that has sources: the JDK, a folder as of measure.folder, and `args.files`
    sources that are unpacked there."""
    for jdk in measure.jdks_of(args):
        archive = source_zip(jdk)
        if archive is None:
            print(f"skipped JDK {jdk.version}: its src.zip is missing (Debian: "
                  f"openjdk-{jdk.major}-source)")
            continue
        with measure.folder(name, memory, disk, args.out) as work:
            yield jdk, work, unpack(archive, work, args.files)


def unpack(archive, folder, least):
    """Extracts the first `least` sources of java.xml, ordered by PACKAGES and name. javac reads the
    remaining classes of the module from the JDK."""
    with zipfile.ZipFile(archive) as sources:
        names = sorted(n for n in sources.namelist() if n.endswith(".java")
                       and n.startswith("java.xml/")
                       and not n.endswith(("module-info.java", "package-info.java")))
        names.sort(key=lambda n: next(i for i, p in enumerate(PACKAGES) if n.startswith(p)))
        if len(names) < least:
            raise SystemExit(f"{archive} has only {len(names)} files of java.xml, not {least}")
        sources.extractall(folder, names[:least])
    return [os.path.join(folder, n) for n in names[:least]]


def arguments(work, files):
    """Arguments that compile the first `files` sources of java.xml of any JDK, extracted to `work`.
    Skips the benchmark if no JDK has its sources."""
    archive = next(filter(None, map(source_zip, measure.jvms.find_jdks())), None)
    if archive is None:
        measure.jvms.skip(
            "no JDK's src.zip under /usr/lib/jvm; scripts/setup installs that of JDK 17")
    with zipfile.ZipFile(archive) as source:
        names = [n for n in source.namelist() if n.startswith("java.xml/") and n.endswith(".java")]
        source.extractall(work, names)
    names = sorted(n for n in names if not n.endswith("module-info.java"))[:files]
    with open(os.path.join(work, "files"), "w") as out:
        out.writelines(f"{os.path.join(work, n)}\n" for n in names)
    return ["-nowarn", "-proc:none", "-implicit:none", "-XDignore.symbol.file", "-d",
            os.path.join(work, "classes"),
            "--patch-module", "java.xml=" + os.path.join(work, "java.xml"),
            "@" + os.path.join(work, "files")]


class Compilation:
    """Runs of javac on the files. `configurations`: name -> (JVM options, agent options or None,
    ...)."""

    def __init__(self, args, jdk, work, files, configurations):
        self.args, self.jdk, self.work = args, jdk, work
        self.configurations = configurations
        self.profiles = os.path.join(work, f"javac-{jdk.major}")
        self.words = os.path.join(work, "words")
        self.classes = os.path.join(work, "classes")
        with open(self.words, "w", encoding="utf-8") as f:
            f.write("\n".join(files))
        self.source = os.path.join(work, "java.xml")

    def once(self, name, library=None):
        flags, agent = self.configurations[name][:2]
        shutil.rmtree(self.classes, ignore_errors=True)
        command = [self.jdk.tool("javac"), *("-J" + f for f in flags)]
        if agent:
            profile = self.profile(name)
            shutil.rmtree(profile, ignore_errors=True)
            command.append(f"-J-agentpath:{os.path.abspath(library or self.args.agent)}={agent},"
                           f"tree_memory={self.args.tree_memory},out={profile}")
        command += ["-proc:none", "-nowarn", "-XDignore.symbol.file", "-implicit:none",
                    "--patch-module", f"java.xml={self.source}", "-d", self.classes,
                    "@" + self.words]
        done = measure.run(command)
        if done.status != 0:
            raise SystemExit(f"{name}: javac ended with status {done.status}")
        return done

    def profile(self, name):
        return f"{self.profiles}-{name.replace(' ', '-')}"
