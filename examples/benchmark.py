"""Calls three tools at the same time: python examples/benchmark.py --workspace DIR"""
import contextlib, sys
from forge_tools import ForgeTools

with contextlib.closing(ForgeTools("--log-level", "error", *sys.argv[1:])) as tools:
    calls = [
        tools.submit("list_files"),
        tools.submit("glob", pattern="*.md"),
        tools.submit("search", query="TODO", max_results=5),
    ]
    for result in (call.result() for call in calls):
        answer = result["error"]["message"] if result["error"] else result["data"]
        print(f"{result['tool']}: {result['status']} in {result['duration_sec']:.3f} s: {str(answer)[:100]}")
