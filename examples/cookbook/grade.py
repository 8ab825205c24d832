"""Does a patch mend a project? Applies it to a copy and runs the tests in the sandbox, for a benchmark of agents:
python examples/cookbook/grade.py PROJECT PATCH "TEST COMMAND" [flags of forge-tools call]"""
import contextlib, json, os, shlex, shutil, sys, tempfile
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from forge_tools import ForgeTools

project, patch, command, *flags = sys.argv[1:]
program = shlex.split(os.environ.get("FORGE_TOOLS", "forge-tools"))
with tempfile.TemporaryDirectory() as place, open(patch, encoding="utf-8") as diff:
    copy = shutil.copytree(project, os.path.join(place, "project"))
    run = os.path.join(place, "run")
    session = ["--workspace", copy, "--run-dir", run, "--allow", "patch_file,run", "--log-level", "error"]
    with contextlib.closing(ForgeTools(*session, *flags, command=program)) as tools:
        before = tools.call("run", command=command)
        applied = tools.call("apply_patch", unified_diff=diff.read())
        after = tools.call("run", command=command) if not applied["error"] else None
    # A grade that nobody could have changed afterwards: the log of the run is a chain of hashes.
    with open(os.path.join(run, "events.jsonl"), encoding="utf-8") as events:
        head = json.loads(events.readlines()[-1])["hash"]
errors = [result["error"] for result in (before, applied, after) if result and result["error"]]
print(json.dumps({
    "before": before["exit_code"],
    "after": after and after["exit_code"],
    "mended": before["exit_code"] != 0 and after is not None and after["exit_code"] == 0,
    "errors": [f"{error['error_type']}: {error['message']}" for error in errors],
    "log": head,
}, indent=2))
