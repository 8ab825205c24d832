"""A list of addresses becomes a folder of Markdown, and a summary of what it is worth:
python examples/cookbook/corpus.py URLS.txt OUT [flags of forge-tools fetch]"""
import collections, json, os, shlex, subprocess, sys

urls, out, *flags = sys.argv[1:]
program = shlex.split(os.environ.get("FORGE_TOOLS", "forge-tools"))
# Called again after Ctrl-C or a crash, it goes on where it was.
subprocess.run([*program, "fetch", "--from", urls, "--out", out, *flags], stdout=subprocess.DEVNULL)

last = {}
with open(os.path.join(out, "manifest.jsonl"), encoding="utf-8") as manifest:
    for record in map(json.loads, manifest):
        last[record["url"]] = record
pages = [record for record in last.values() if record["status"] == "ok"]
print(f"{len(pages)} pages, {sum(page['tokens'] for page in pages)} tokens")
for code, count in collections.Counter(r["code"] for r in last.values() if r["status"] == "failed").most_common():
    print(f"{count} failed: {code}")
