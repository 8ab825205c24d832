import {basename} from 'node:path/posix';

const MOST_TESTS = 4;

const INTRO = `# Requirements

<!-- Written by \`npm run docs\` from scripts/requirements.json. Edit that. -->

Comments and test titles cite ids. This page says what each one asks for, in one sentence, which modules hold it and
which tests prove it. The ids come from four sources:

| id | source |
|---|---|
| \`FR-…\`, \`NFR-…\` | the software requirements of \`web_fetch\` (the *SRD*) |
| \`TA-…\` | the Tool API, the contract of the workspace tools; it has no ids of its own, so these are ours |
| \`ADR-…\` | ADR 08, the decision about \`glob\`, \`web_fetch\` and \`str_replace\`; these ids are ours too |
| \`A1\` … \`X1\` | *rulings*: what holds where the three documents are silent or contradict each other |

Tests whose titles begin with \`T-WF-…\` or \`IT-WF-…\` are the tests that the SRD itself asks for. Where a ruling and a
document differ, the ruling holds. *Falls short* marks what is not so in this version.

\`test/requirements.test.ts\` fails where an id has no module or no test, where code cites an id that is not here, and where
this page is out of date.
`;

const HEAD = '| id | what holds | modules | tests |\n|---|---|---|---|';

/** docs/requirements.md from the groups that traceRequirements() has traced. */
export function renderRequirements(groups) {
  const documents = [...new Set(groups.map(({document}) => document))];
  const sections = documents.map(document => {
    const own = groups.filter(group => group.document === document);
    return [`## ${document}`, ...own.map(renderGroup)].join('\n\n');
  });
  return `${[INTRO.trimEnd(), ...sections, renderPlanned(groups)].join('\n\n')}\n`;
}

function renderGroup({title, entries}) {
  const built = entries.filter(({planned}) => !planned);
  const rows = built.map(({id, says, lacks, code, proofs, isAwaited}) =>
    row([
      `\`${id}\``,
      isAwaited ? `${says} *Falls short: ${lacks}*` : says,
      code.map(link).join(', '),
      renderProofs(id, proofs),
    ]),
  );
  return [
    `### ${title}`,
    '',
    built.length === 0 ? 'Nothing of this is built yet.' : [HEAD, ...rows].join('\n'),
  ].join('\n');
}

function renderProofs(id, proofs) {
  if (proofs.length === 0) return '*to come*';
  return proofs
    .map(({ref, paths}) => {
      const more = paths.length > MOST_TESTS ? ` and ${paths.length - MOST_TESTS} more` : '';
      const files = `${paths.slice(0, MOST_TESTS).map(link).join(', ')}${more}`;
      return ref === id ? files : `“${ref}” in ${files}`;
    })
    .join('; ');
}

function renderPlanned(groups) {
  const planned = groups.flatMap(({entries}) => entries.filter(entry => entry.planned));
  const rows = planned.map(({id, says}) => row([`\`${id}\``, says]));
  return `## Planned

These rulings are not built in this version, or not wholly:

| id | what is planned |
|---|---|
${rows.join('\n')}`;
}

const link = path => `[${basename(path).replace(/(?:\.test)?\.ts$/, '')}](../${path})`;

/** A pipe, in code too, would end a cell. */
const row = cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
