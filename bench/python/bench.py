"""Measures the Python SDK beside what people would use instead. bench/SAMPLES.md says how it is asked and answers."""

import argparse
import json
import subprocess
import sys

import canonical
import plans

CALLER = plans.ROOT / "build" / "bench-caller"
ROWS = {
    "python-canonical": list(canonical.CHECKS),
    "python-call": list(plans.SUBJECTS),
    "python-start": list(dict.fromkeys([*plans.IMPORTS, *plans.SUBJECTS])),
}


def _say(**members: object) -> None:
    print(json.dumps(members, ensure_ascii=False), flush=True)


def _measure_canonical(row: str, subject: str, seconds: float) -> None:
    for case, size in canonical.SIZES.items():
        value, count = canonical.throughput(canonical.CHECKS[subject], size, seconds / len(canonical.SIZES))
        _say(row=row, subject=subject, case=case, metric="throughput", unit="MB/s", value=value, count=count)


def _call(plan: plans.Plan, row: str, subject: str, seconds: float) -> None:
    """Has the caller measure, which prints its samples where ours go."""
    sent = json.dumps({"row": row, "subject": subject, "seconds": seconds, **plan})
    status = subprocess.run([CALLER], input=sent, text=True, check=False).returncode
    if status != 0:
        sys.exit(status)


def _measure_start(row: str, subject: str, seconds: float) -> None:
    cases = []
    if subject in plans.IMPORTS:
        cases.append(plans.import_plan(subject))
    if subject in plans.SUBJECTS:
        cases.append({**plans.call_plan(subject), "case": "first answer"})
    for plan in cases:
        _call(plan, row, subject, seconds / len(cases))


def _run(row: str, subject: str, seconds: float) -> None:
    if row == "python-canonical":
        _measure_canonical(row, subject, seconds)
    elif row == "python-call":
        _call(plans.call_plan(subject), row, subject, seconds)
    else:
        _measure_start(row, subject, seconds)


def main() -> None:
    """Lists what can be measured, or measures one subject once."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="print what can be measured")
    run = commands.add_parser("run", help="measure one subject once")
    run.add_argument("--row", required=True, choices=ROWS)
    run.add_argument("--subject", required=True)
    run.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    if asked.command == "list":
        for row, subjects in ROWS.items():
            for subject in subjects:
                _say(row=row, subject=subject)
        return
    if asked.subject not in ROWS[asked.row]:
        sys.exit(f"row {asked.row} has no subject {asked.subject!r}: {', '.join(ROWS[asked.row])}")
    _run(asked.row, asked.subject, asked.seconds)


if __name__ == "__main__":
    main()
