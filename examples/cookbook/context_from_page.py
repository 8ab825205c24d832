"""The parts of a page that a question is about, within a budget of tokens:
python examples/cookbook/context_from_page.py BUDGET URL "QUESTION" [flags of forge-tools call]"""
import contextlib, os, re, shlex, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from forge_tools import ForgeTools

budget, url, question, *flags = sys.argv[1:]
program = shlex.split(os.environ.get("FORGE_TOOLS", "forge-tools"))
with contextlib.closing(ForgeTools("--allow", "web_fetch", "--log-level", "error", *flags, command=program)) as tools:
    result = tools.call("web_fetch", url=url, max_chunk_tokens=200)
if result["error"]:
    sys.exit(f"{result['error']['error_type']}: {result['error']['message']}")

words = set(re.findall(r"\w{3,}", question.lower()))
chunks = result["data"]["chunks"]
by_worth = sorted(range(len(chunks)), key=lambda n: -len(words & set(re.findall(r"\w{3,}", chunks[n]["text"].lower()))))
kept, left = set(), int(budget)
for number in by_worth:
    # The counts are exact, so what is taken here fits into the prompt.
    if chunks[number]["token_count"] <= left:
        kept.add(number)
        left -= chunks[number]["token_count"]
print(f"Source: {result['data']['final_url']} ({int(budget) - left} tokens)\n")
print("\n\n[…]\n\n".join(chunks[number]["text"] for number in sorted(kept)))
