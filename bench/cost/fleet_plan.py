#!/usr/bin/env python3
"""Computes how many servers a fleet of profiles needs, from the figures that bench/cost/fleet.py
has measured on one machine.

  fleet_plan.py --rows-per-second R --bytes-per-row B [--hosts 10000] [--minutes 1] ...
"""
import argparse


def plan(hosts, minutes, contexts, kept_share, rows_per_second, bytes_per_row, days, disk_tb,
         headroom):
    """Rows a second that arrive, and the servers for the rate and for the disks."""
    rows = hosts / (60 * minutes) * contexts * kept_share
    stored = rows * 86400 * days * bytes_per_row
    return {"rows_per_second": rows,
            "servers_for_rate": rows / (rows_per_second * headroom),
            "stored_tb": stored / 1e12,
            "servers_for_disk": stored / (disk_tb * 1e12)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows-per-second", type=float, required=True,
                        help="measured, of one server")
    parser.add_argument("--bytes-per-row", type=float, required=True, help="measured, on disk")
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=1, help="between two profiles of a host")
    parser.add_argument("--contexts", type=int, default=5_000, help="rows of a profile")
    parser.add_argument("--days", type=float, default=30, help="that are kept")
    parser.add_argument("--disk-tb", type=float, default=4, help="of a server")
    parser.add_argument("--headroom", type=float, default=0.5,
                        help="part of the measured rate that is planned for")
    given = parser.parse_args()
    print(f"{given.hosts} hosts, a profile of {given.contexts} rows every {given.minutes:g} minutes, "
          f"{given.days:g} days kept, {given.disk_tb:g} TB a server")
    print(f"{'PROFILES':<22} {'ROWS/S':>12} {'SERVERS (RATE)':>15} {'TB':>8} {'SERVERS (DISK)':>15}")
    for name, share in (("all", 1), ("a tenth, by sampling", 0.1)):
        of = plan(given.hosts, given.minutes, given.contexts, share, given.rows_per_second,
                  given.bytes_per_row, given.days, given.disk_tb, given.headroom)
        print(f"{name:<22} {of['rows_per_second']:>12,.0f} {of['servers_for_rate']:>15.1f} "
              f"{of['stored_tb']:>8.1f} {of['servers_for_disk']:>15.1f}")


if __name__ == "__main__":
    main()
