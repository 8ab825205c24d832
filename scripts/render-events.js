import {listEvents} from './render-schemas.js';

const INTRO = `# Events

<!-- Written by \`npm run docs\` from src/runtime/run-event.ts. Edit that. -->

To see what a session did, run \`forge-tools report latest\`. To check that its log is unchanged, run
\`forge-tools events verify latest\`.

A session of calls is a *run*. Its directory is \`~/.local/state/forge-tools/runs/NAME\` (\`$XDG_STATE_HOME/forge-tools/runs/NAME\`),
named by the time. \`--run-dir DIR\` chooses another one and resumes an existing run.

| path | what |
|---|---|
| \`events.jsonl\` | an event a line, in order |
| \`calls/step_NNNN.json\` | a whole call: parameters, intent, \`ToolResult\` |
| \`diffs/step_NNNN.patch\` | the requested change; \`.undo.patch\` reverses it, for people to read |
| \`diffs/step_NNNN.undo.json\`, \`old/SHA256\` | files, hashes, modes and old bytes for [\`undo\`](cli.md#undo) |
| \`logs/\` | output of commands |
| \`approvals/\` | calls that wait for [\`forge-tools approve\`](approvals.md) |
| \`lock\` | the process that writes here |

Only its owner can read it, and it is never inside the workspace. The first call that can begin makes it; a wrong tool name or
wrong arguments before that leave nothing. [State](state.md) says how long it is kept.

## A line

\`\`\`json
{"seq": 2, "time": "2026-01-10T08:30:00.125Z", "event": "tool_call_started", "payload": {"request_id": "r1", "step": 1, "tool": "read_file", "params": {"path": "a.txt"}}, "hash": "9f3c…"}
\`\`\`

- A line is in the file before the call goes on. A killed process leaves whole lines and at most half a line. The next
  session moves that half to another file (\`log_repaired\`).
- \`hash\` is the SHA-256 of the previous hash and this line up to its own hash. A changed, missing or moved line breaks all
  later ones; \`forge-tools events verify RUN\` names the first. It cannot see missing lines at the end: keep the head that it
  prints.
- Query strings, credentials and values with secret-looking names are replaced. Text above 1,000 characters becomes its
  beginning, its length and its SHA-256.
- \`artifacts\` are the files of a call with their SHA-256, so the chain covers them. \`calls/step_NNNN.json\` is redacted too and
  cut at a million characters. It has what the model saw.
- \`duration_sec\` is run time; \`approval_wait_sec\` is waiting time.

\`schemas/run-event.json\` in the package is the schema of a line.

`;

/** docs/events.md from the table of events. */
export function renderEvents(runtimeEvents) {
  const rows = Object.entries(listEvents(runtimeEvents)).map(
    ([event, {when, payload}]) =>
      `| \`${event}\` | ${when} | ${payload.map(field => `\`${field}\``).join(', ')} |`,
  );
  return `${INTRO}## The events\n\n| event | when | payload |\n|---|---|---|\n${rows.join('\n')}\n`;
}
