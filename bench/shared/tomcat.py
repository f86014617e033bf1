"""Tomcat 10 of Debian (package tomcat10) as an ordinary process: a base folder of its own, a free
port of the loopback interface, a JDK, and a command of jprof around it."""
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time

import jvms

HOME = "/usr/share/tomcat10"
CONNECTIONS = 8


def need():
    if not os.path.isdir(f"{HOME}/etc"):
        jvms.skip("it needs Tomcat 10 (package tomcat10)")


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def make_base(base, port, context=""):
    """The folders and settings of a server with one connector. `context`: an XML element of its
    host, for a web application that is not in base/webapps."""
    shutil.copytree(os.path.join(HOME, "etc"), os.path.join(base, "conf"))
    for name in ("logs", "temp", "work", "webapps/ROOT"):
        os.makedirs(os.path.join(base, name))
    with open(os.path.join(base, "conf", "server.xml"), "w", encoding="utf-8") as out:
        out.write(f'<Server port="-1"><Service name="Catalina"><Connector port="{port}" '
                  'address="127.0.0.1" maxKeepAliveRequests="-1"/>'
                  '<Engine name="Catalina" defaultHost="localhost">'
                  f'<Host name="localhost" appBase="webapps">{context}</Host>'
                  '</Engine></Service></Server>')


@contextlib.contextmanager
def running(jdk, prefix, base, port, options=()):
    """Runs Tomcat behind the words of `prefix` ([] for plain); yields the pid of its JVM once it
    accepts connections."""
    jars = ":".join(f"{HOME}/bin/{name}.jar" for name in ("bootstrap", "tomcat-juli"))
    command = [*prefix, jdk.tool("java"), "-Xmx512m", "-XX:+UseParallelGC", *options, "-cp", jars,
               f"-Dcatalina.home={HOME}", f"-Dcatalina.base={base}",
               f"-Djava.io.tmpdir={base}/temp", "org.apache.catalina.startup.Bootstrap", "start"]
    path = os.path.join(base, "out")
    with open(path, "w", encoding="utf-8") as out:
        with subprocess.Popen(command, stdout=out, stderr=out) as process:
            try:
                yield server_of(process, port, path)
            finally:
                process.terminate()


def server_of(process, port, output):
    """The pid of the JVM, once it answers."""
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as f:
                children = f.read().split()
            return int(children[0]) if children else process.pid
        time.sleep(0.1)
    with open(output, encoding="utf-8", errors="replace") as f:
        sys.exit(f"Tomcat did not start: {f.read()[-1000:].strip()}")


def cpu(pid):
    """CPU seconds of the process until now, user and system, of all threads."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
