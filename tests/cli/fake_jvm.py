"""A process that looks like a JVM and speaks HotSpot's attach protocol: it maps a file libjvm.so,
and listens after SIGQUIT.

  fake_jvm.py HOW [private-tmp] [-XX:AltTempDir=FOLDER] [Main arguments...]

Prints a JSON line for each request. HOW is a word:
  good       the agent makes a profile
  refuses    the agent reports an error, except for DETACH
  stays      the agent reports an error for DETACH
  mute       the agent writes no reply
  waits      the agent makes a profile, and answers DETACH after SIGUSR1
  elf        the JVM cannot load the library
  cut        the JVM's answer is cut off
  closes     the JVM closes the connection
  deaf       the JVM does not listen; prints a line when it is asked to
  open       other users can write to the JVM's socket
  xrs        SIGQUIT has no handler
  musl       the JVM's C library is musl
  dumps      the JVM writes a heap dump, which takes some time to read
"""
import contextlib
import json
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import heap_made  # noqa: E402
import made  # noqa: E402

KEPT = {}  # mappings by path: as dlopen does, a path that is mapped is not read again


def map_file(path):
    if path in KEPT:
        return
    with open(path, "rb") as file:
        KEPT[path] = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)


def look_like_a_jvm(folder):
    server = os.path.join(folder, "jdk/lib/server")
    os.makedirs(server)
    made.write(server, "libjvm.so", bytes(4096))
    made.write(os.path.join(folder, "jdk"), "release", b'JAVA_VERSION="17.0.99"\n')
    map_file(os.path.join(server, "libjvm.so"))


def options_of(text):
    pairs = (item.partition("=")[::2] for item in text.split(","))
    return {name: urllib.parse.unquote(value) for name, value in pairs}


def write_heap(path):
    """Writes a small heap with so many roots that they take some time to read."""
    roots = struct.pack(">BQ", 0xff, 0x1000) * 4_000_000
    with open(path, "xb") as file:
        file.write(heap_made.small() + struct.pack(">BII", 0x1c, 0, len(roots)) + roots)


class FakeJvm:
    def __init__(self, how):
        self.how, self.out = how, ""
        self.server = socket.socket(socket.AF_UNIX)
        option = "-XX:AltTempDir="
        chosen = [word[len(option):] for word in sys.argv if word.startswith(option)]
        temporary = chosen[0] if chosen else "/tmp"
        self.path = f"{temporary}/.java_pid{os.getpid()}"
        self.asked = f"{temporary}/.attach_pid{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.path)  # of a JVM that was killed, which had the same number
        if how != "xrs":
            signal.signal(signal.SIGQUIT, lambda *_: self.listen())

    def listen(self):
        if not os.path.exists(self.asked):
            return print("a thread dump", flush=True)
        if self.how == "deaf":
            print("asked", flush=True)
        elif not os.path.exists(self.path):
            self.server.bind(self.path)
            os.chmod(self.path, 0o666 if self.how == "open" else 0o600)
            self.server.listen()

    def serve(self):
        while not os.path.exists(self.path):
            signal.pause()
        while True:
            client, _ = self.server.accept()
            with client:
                client.sendall(self.answer(self.read(client)))

    @staticmethod
    def read(client):
        data = b""
        while data.count(b"\0") < 5:
            part = client.recv(4096)
            if not part:
                break
            data += part
        return data.decode().split("\0")[:5]

    def answer(self, words):
        print(json.dumps(words), flush=True)
        if self.how == "dumps":
            write_heap(words[2])
            return b"0\nHeap dump file created\n"
        library, options = words[2], options_of(words[4])
        if self.how in ("elf", "cut", "closes"):
            return {"elf": b"0\n%s was not loaded.\nno ELF\n" % library.encode(),
                    "cut": b"0\nreturn co", "closes": b""}[self.how]
        map_file(library)
        detach = "DETACH" in options
        if detach and self.how == "waits":
            signal.sigwait({signal.SIGUSR1})
        failed = self.how == ("stays" if detach else "refuses")
        if not detach and not failed and self.how != "mute":
            self.out = made.profile(options["OUT"], mode="scs")
        if self.how != "mute":
            with open(options["REPLY"], "w", encoding="utf-8") as reply:
                reply.write("the agent is tired\n" if failed
                            else f"ok out={urllib.parse.quote(self.out)} note=a%20note\n")
        return b"0\nreturn code: %d\n" % (-1 if failed or self.how == "mute" else 0)


def main():
    signal.alarm(600)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    if "private-tmp" in sys.argv[2:3]:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/tmp"], check=True)
    if "AS_USER" in os.environ:
        user = int(os.environ["AS_USER"])
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    with tempfile.TemporaryDirectory() as folder:
        look_like_a_jvm(folder)
        if sys.argv[1] == "musl":
            made.write(folder, "ld-musl-x86_64.so.1", bytes(4096))
            map_file(os.path.join(folder, "ld-musl-x86_64.so.1"))
        jvm = FakeJvm(sys.argv[1])
        print("ready", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        try:
            jvm.serve()
        finally:
            if os.path.exists(jvm.path):
                os.unlink(jvm.path)


if __name__ == "__main__":
    main()
