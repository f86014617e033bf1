#!/usr/bin/env python3
"""Runs AttachLoad and, unless OUT is -, attaches a recording of exact counts to it while it counts
CALLS calls on two threads. Prints the program's answers; messages and the exit status are jprof's.

    count_attached.py JPROF AGENT OUT CALLS JAVA-COMMAND...
"""
import signal
import subprocess
import sys


def ask(program, line):
    program.stdin.write(line + "\n")
    program.stdin.flush()
    return program.stdout.readline().strip()


def begin(jprof, agent, out, pid, command="calltree"):
    """Returns the recording, which has begun or failed, and its messages so far."""
    recording = subprocess.Popen([jprof, command, "--agent", agent, "--pid", str(pid), "-o", out],
                                 stderr=subprocess.PIPE, text=True)
    messages = []
    for line in recording.stderr:
        messages.append(line)
        if "Ctrl-C" in line:
            break
    return recording, messages


def main():
    jprof, agent, out, calls, *command = sys.argv[1:]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(program.stdout.readline().strip())
    recording = None
    if out != "-":
        recording, messages = begin(jprof, agent, out, program.pid)
    print(ask(program, f"count {calls}"))
    status = 0
    if recording:
        if recording.poll() is None:
            recording.send_signal(signal.SIGTERM)
        sys.stderr.write("".join(messages) + recording.communicate()[1])
        status = recording.returncode
    print(ask(program, f"count {calls}"))
    print("wrong answers:", program.communicate("end\n")[0].split()[2])
    return program.returncode or status


if __name__ == "__main__":
    sys.exit(main())
