#!/usr/bin/env python3
"""What `jprof locks` costs a server under load: Tomcat 10 (package tomcat10) that delivers a
page of a JSP by 8 connections.

    bench/cost/locks_server.py [--jdk 25] [--rounds 3] [--requests 20000]

Prints the CPU time of Tomcat's process for each request once it is warm, in microseconds, plain,
with `jprof calltree --counter woven`, `jprof locks --lite` and `jprof locks`: the median of the
rounds and the ratio to plain. The load comes from another process, whose time is not counted.
"""
import argparse
import http.client
import os
import statistics
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
import jvms  # noqa: E402
import tomcat  # noqa: E402

JPROF = os.path.join(measure.BUILD, "bin", "jprof")
SOURCES = {"plain": None, "calltree": ["calltree", "--counter", "woven"],
           "lite": ["locks", "--lite"], "full": ["locks"]}
PAGE = """<%@ page import="java.util.concurrent.*,java.util.concurrent.locks.*" %>
<%! static final ConcurrentHashMap<String, Integer> SEEN = new ConcurrentHashMap<>();
    static final ReentrantLock LOCK = new ReentrantLock(); static int served; %>
<% SEEN.merge(String.valueOf(request.getParameter("id")), 1, Integer::sum);
   LOCK.lock(); try { ++served; } finally { LOCK.unlock(); }
   session.setAttribute("last", served); StringBuffer text = new StringBuffer();
   for (int i = 0; i < 50; ++i) text.append(i).append(' '); %>
<html><body><%= served %> <%= text %></body></html>
"""


def make_base(base, port):
    tomcat.make_base(base, port)
    with open(os.path.join(base, "webapps", "ROOT", "index.jsp"), "w", encoding="utf-8") as out:
        out.write(PAGE)


def load(port, requests):
    failed = []

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        for i in range(requests // tomcat.CONNECTIONS):
            connection.request("GET", f"/index.jsp?id={i % 100}")
            answer = connection.getresponse()
            if answer.status != 200 or b"<html>" not in answer.read():
                failed.append(answer.status)
                return
    threads = [threading.Thread(target=client) for _ in range(tomcat.CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        sys.exit(f"Tomcat answers {failed[0]}")


def once(jdk, source, args):
    with tempfile.TemporaryDirectory(prefix="locks-server-") as base:
        port = tomcat.free_port()
        make_base(base, port)
        words = SOURCES[source]
        prefix = [JPROF, *words, "-o", os.path.join(base, "p.jprof"), "--"] if words else []
        with tomcat.running(jdk, prefix, base, port) as pid:
            load(port, args.requests)  # until it is compiled
            before = tomcat.cpu(pid)
            load(port, args.requests)
            return 1e6 * (tomcat.cpu(pid) - before) / args.requests


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", type=int, help="only this version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=20_000, help="in each half of a run")
    args = parser.parse_args()
    tomcat.need()
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        times = {source: [] for source in SOURCES}
        for _ in range(args.rounds):
            for source in SOURCES:
                times[source].append(once(jdk, source, args))
        plain = statistics.median(times["plain"])
        for source, values in times.items():
            middle = statistics.median(values)
            print(f"JDK {jdk.major} {source:9} {middle:7.0f} us {middle / plain:6.2f}", flush=True)


if __name__ == "__main__":
    main()
