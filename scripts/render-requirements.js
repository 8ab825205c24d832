import {basename} from 'node:path/posix';

const MOST_TESTS = 2;

const INTRO = `# Requirements

<!-- Written by \`npm run docs\` from scripts/requirements.json. Edit that. -->

Comments and test titles cite ids. To find the code and the tests of an id, search this page for it. The ids have four sources:

| id | source |
|---|---|
| \`FR-…\`, \`NFR-…\` | the software requirements of \`web_fetch\` (the *SRD*) |
| \`TA-…\` | the Tool API, the contract of the workspace tools; the ids are ours |
| \`ADR-…\` | ADR 08, the decision about \`glob\`, \`web_fetch\` and \`str_replace\`; the ids are ours |
| \`A1\` … \`X1\` | *rulings*, for gaps and contradictions of the three documents; a ruling wins |

The SRD itself asks for tests with titles \`T-WF-…\` and \`IT-WF-…\`. *Falls short* marks a gap in this version.
\`test/requirements.test.ts\` fails if an id lacks a module or a test, or if code cites an unknown id.
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
  const cells = proofs.map(({ref, paths}) => {
    const more = paths.length > MOST_TESTS ? ` and ${paths.length - MOST_TESTS} more` : '';
    const files = `${paths.slice(0, MOST_TESTS).map(link).join(', ')}${more}`;
    // An id leads to its tests; a whole title stands in requirements.json.
    return ref === id || ref.includes(' ') ? files : `“${ref}” in ${files}`;
  });
  return [...new Set(cells)].join('; ');
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
