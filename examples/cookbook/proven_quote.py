"""An answer that the page is proved to say: python examples/cookbook/proven_quote.py URL "QUESTION" [flags of forge-tools call]"""
import contextlib, os, re, shlex, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from forge_tools import ForgeTools

url, question, *flags = sys.argv[1:]
program = shlex.split(os.environ.get("FORGE_TOOLS", "forge-tools"))

def answer_of(result):
    if result["error"]:
        sys.exit(f"{result['error']['error_type']}: {result['error']['message']}")
    return result["data"]

with contextlib.closing(ForgeTools("--allow", "web_fetch", "--log-level", "error", *flags, command=program)) as tools:
    page = answer_of(tools.call("web_read", url=url, find=question))
    if not page["passages"]:
        sys.exit("Nothing on the page is about that.")
    # A model would write here. This takes the sentence of the best passage that shares most words with the question.
    words = set(re.findall(r"\w{3,}", question.lower()))
    sentences = re.split(r"(?<=[.!?])\s+|\n+", page["passages"][0]["text"])
    quote = max(sentences, key=lambda sentence: len(words & set(re.findall(r"\w{3,}", sentence.lower()))))
    # The snapshot is the very text that was read, whatever the page says by now.
    proof = answer_of(tools.call("verify_quote", url=url, snapshot=page["snapshot"], quote=quote))["checks"][0]
if proof["verdict"] not in ("exact", "same"):
    sys.exit(f"Not a quote ({proof['verdict']}): {quote}")
print(f"{quote}\n  {proof['verdict']}, section \"{proof['section']['heading']}\"\n  {proof['link']}")
