"""The tools of forge-tools from Python: one process, one session, calls from any thread."""
import itertools, json, subprocess, threading
from concurrent.futures import Future

class ForgeTools:
    def __init__(self, *flags, command=("forge-tools",)):
        self._process = subprocess.Popen([*command, "call", "--jsonl", *flags], encoding="utf-8",
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids, self._waiting, self._lock = itertools.count(1), {}, threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def submit(self, tool, **params):
        """Starts a call. Calls run at the same time; the ToolResult is the `.result()` of what this returns."""
        with self._lock:
            request_id, future = str(next(self._ids)), Future()
            self._waiting[request_id] = future
            request = {"request_id": request_id, "tool": tool, "params": params}
            print(json.dumps(request), file=self._process.stdin, flush=True)
        return future

    def call(self, tool, **params):
        return self.submit(tool, **params).result()

    def close(self):
        self._process.stdin.close()
        return self._process.wait()

    def _read(self):
        for result in map(json.loads, self._process.stdout):
            self._waiting.pop(result["request_id"]).set_result(result)
        for future in self._waiting.values():
            future.set_exception(ConnectionError("forge-tools has ended"))
