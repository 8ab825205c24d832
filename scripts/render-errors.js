const INTRO = `# Errors

<!-- Written by \`npm run docs\` from src/core/failure-codes.ts. Edit that. -->

To handle a failure in a program, look at its \`code\`:

\`\`\`json
{"code": "dns_failed", "message": "…", "retryable": true, "details": {"host": "example.org"}}
\`\`\`

- \`message\` says what happened, with which value, and what to do next. It has no query strings and no credentials.
- \`details\` has some of the fields listed below.
- *Blame* says who must change something. *Caller* means the arguments, *policy* the configuration or robots.txt, *remote* the
  server, and *host* this machine.
- *Retryable* says whether the same call may succeed later.

\`error\` of a \`ToolResult\` also has \`error_type\`, equal to \`code\`.
`;

function retryableIn({retryable, passing}) {
  if (passing === undefined) return retryable ? 'yes' : 'no';
  return `only where \`error\` is ${passing.map(code => `\`${code}\``).join(', ')}`;
}

/** docs/errors.md from the table of failure codes. */
export function renderErrors(codes) {
  const rows = Object.entries(codes).map(
    ([code, {blame, retryable, passing}]) =>
      `| [\`${code}\`](#${code}) | ${blame} | ${passing ? 'some' : retryable ? 'yes' : 'no'} |`,
  );
  const entries = Object.entries(codes).map(([code, entry]) =>
    [
      `## ${code}`,
      '',
      entry.meaning,
      '',
      `- Blame: ${entry.blame}. Retryable: ${retryableIn(entry)}.`,
      `- Details: ${entry.details.map(name => `\`${name}\``).join(', ') || 'none'}.`,
      `- What to do: ${entry.next}`,
      '',
    ].join('\n'),
  );
  const table = ['| code | blame | retryable |', '|---|---|---|', ...rows, ''].join('\n');
  return [INTRO, table, ...entries].join('\n');
}
