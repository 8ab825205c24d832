const INTRO = `# Errors

<!-- Written by \`npm run docs\` from src/core/failure/failure-codes.ts. Edit that. -->

A call that fails answers with

\`\`\`json
{"code": "dns_failed", "message": "…", "retryable": true, "details": {"host": "example.org"}}
\`\`\`

\`message\` says what happened, with which value, and what to do next. Query strings and credentials appear nowhere in it.
\`details\` carries some of the fields listed below. *Blame* is the one who has to change something: the caller (the
arguments), the policy (this host's configuration, or the site's robots.txt), the remote server, or the host that runs the
tools.
`;

/** docs/errors.md from the table of failure codes. */
export function renderErrors(codes) {
  const rows = Object.entries(codes).map(
    ([code, {blame, retryable}]) => `| [\`${code}\`](#${code}) | ${blame} | ${retryable ? 'yes' : 'no'} |`,
  );
  const entries = Object.entries(codes).map(([code, entry]) =>
    [
      `## ${code}`,
      '',
      entry.meaning,
      '',
      `- Blame: ${entry.blame}. Retryable: ${entry.retryable ? 'yes' : 'no'}.`,
      `- Details: ${entry.details.map(name => `\`${name}\``).join(', ') || 'none'}.`,
      `- What to do: ${entry.next}`,
      '',
    ].join('\n'),
  );
  const table = ['| code | blame | retryable |', '|---|---|---|', ...rows, ''].join('\n');
  return [INTRO, table, ...entries].join('\n');
}
