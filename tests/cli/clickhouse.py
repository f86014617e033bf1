"""Servers of ClickHouse for tests: ordinary processes on loopback, with files in a temporary folder.
Nothing of an installed service is used, and nothing survives stop()."""
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

USERS = """<yandex>
<profiles><default><max_memory_usage>{memory}</max_memory_usage></default></profiles>
<users>
<default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default>
<reader><password>secret word</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></reader>
</users>
<quotas><default/></quotas>
</yandex>
"""

CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<interserver_http_port>{between}</interserver_http_port>
<listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
<user_files_path>{folder}/files/</user_files_path>
<format_schema_path>{folder}/schemas/</format_schema_path>
<mark_cache_size>67108864</mark_cache_size>
<users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<timezone>UTC</timezone>
<remote_servers><profiles>{shards}</profiles></remote_servers>
</yandex>
"""

SHARD = ("<shard><internal_replication>true</internal_replication>"
         "<replica><host>127.0.0.1</host><port>{}</port></replica></shard>")


def program():
    """The path of the server's program, or None."""
    return shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Server:
    def __init__(self, folder, ports, shard_ports, memory):
        self.folder, self.process = folder, None
        self.http, tcp, between = ports
        os.makedirs(folder)
        shards = "".join(SHARD.format(port) for port in shard_ports)
        with open(folder + "/config.xml", "w", encoding="utf-8") as file:
            file.write(CONFIG.format(folder=folder, http=self.http, tcp=tcp, between=between,
                                     shards=shards))
        with open(folder + "/users.xml", "w", encoding="utf-8") as file:
            file.write(USERS.format(memory=memory))

    def start(self):
        with open(self.folder + "/output", "ab") as output:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [program(), f"--config-file={self.folder}/config.xml"], stdout=output,
                stderr=output, cwd=self.folder, start_new_session=True)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                self.ask("SELECT 1")
                return self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        with open(self.folder + "/output", encoding="utf-8", errors="replace") as file:
            raise RuntimeError("clickhouse-server does not start: " + file.read()[-2000:])

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def url(self, database, query=""):
        return f"clickhouse://127.0.0.1:{self.http}/{database}{query}"

    def ask(self, sql, database="default"):
        """The answer as rows of texts."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.http}/?database={urllib.parse.quote(database)}",
            data=sql.encode())
        with urllib.request.urlopen(request, timeout=120) as answer:
            return [line.split("\t") for line in answer.read().decode(errors="replace").splitlines()]


def memory_folder():
    """A folder in memory, where thousands of small files are removed quickly, or None."""
    folder = "/dev/shm"
    room = os.path.isdir(folder) and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free
    return folder if room and room > 500_000_000 else None


class Cluster:
    """So many servers, each with one shard of the cluster `profiles`; their files are in memory
    unless `parent` is another folder."""

    def __init__(self, count=2, memory=3_000_000_000, parent=None):
        self.folder = tempfile.mkdtemp(prefix="jprof-clickhouse-", dir=parent or memory_folder())
        ports = free_ports(3 * count)
        groups = [ports[3 * i:3 * i + 3] for i in range(count)]
        self.servers = [Server(f"{self.folder}/{i}", group, [one[1] for one in groups], memory)
                        for i, group in enumerate(groups)]

    def start(self):
        for server in self.servers:
            server.start()
        return self

    def stop(self):
        for server in self.servers:
            server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
