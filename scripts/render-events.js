import {listEvents} from './render-schemas.js';

const INTRO = `# Events

<!-- Written by \`npm run docs\` from src/runtime/events/run-event.ts. Edit that. -->

A session of calls is a *run*. Its directory holds what happened:

| path | what |
|---|---|
| \`events.jsonl\` | an event a line, in order |
| \`calls/step_NNNN.json\` | the call as a whole: its parameters, what it was going to do, its \`ToolResult\` |
| \`diffs/step_NNNN.patch\` | what step NNNN was asked to change; \`.undo.patch\` reverses it, for people to read |
| \`diffs/step_NNNN.undo.json\`, \`old/SHA256\` | what [\`undo\`](cli.md#undo) works with: files, hashes, modes, and the old bytes |
| \`logs/\` | full output of commands |
| \`approvals/\` | calls that wait for [\`forge-tools approve\`](approvals.md) |
| \`lock\` | which process writes here |

\`--run-dir DIR\` names it; a directory that holds a run is resumed, and its steps go on counting. Without the flag a new
one is made below \`$XDG_STATE_HOME/forge-tools/runs/\` (\`~/.local/state/forge-tools/runs/\`), named by the time. It is
readable by its owner alone, and it is never inside the workspace: no tool can write its own record.

## A line

\`\`\`json
{"seq": 2, "time": "2026-01-10T08:30:00.125Z", "event": "tool_call_started", "payload": {"request_id": "r1", "step": 1, "tool": "read_file", "params": {"path": "a.txt"}}, "hash": "9f3c…"}
\`\`\`

- A line is appended in one write and is in the file before the call goes on. A process that is killed leaves whole
  lines and at most half a one; the next session puts that half aside and says so (\`log_repaired\`).
- \`hash\` is the SHA-256 of the hash of the line before and of this line up to its own hash. A changed, missing or moved
  line breaks every line after it: \`forge-tools events verify RUN\` names the first. Lines missing at the very end cannot
  be seen in the file alone; keep the head that \`verify\` prints and compare it.
- Query strings, credentials and values with secret-looking names are replaced. Text above 1,000 characters is its
  beginning, its length and its SHA-256. The diffs are in their own files.
- \`artifacts\` are the files that a call left in the run directory, each with its SHA-256, so the chain covers them.
  \`calls/step_NNNN.json\` is redacted like a line of the log, and cut at a million characters. It has what the model
  was shown: pages, parts of files, output of commands. [\`forge-tools report\`](report.md) makes one page of it all.
- \`duration_sec\` is run time; time spent waiting for a person is \`approval_wait_sec\`.

[\`schemas/run-event.json\`](../schemas/run-event.json) is the schema of a line.

`;

/** docs/events.md from the table of events. */
export function renderEvents(runtimeEvents) {
  const rows = Object.entries(listEvents(runtimeEvents)).map(
    ([event, {when, payload}]) =>
      `| \`${event}\` | ${when} | ${payload.map(field => `\`${field}\``).join(', ')} |`,
  );
  return `${INTRO}## The events\n\n| event | when | payload |\n|---|---|---|\n${rows.join('\n')}\n`;
}
