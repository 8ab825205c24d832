import type {Section, Setting, TableListSetting} from '../core/setting.ts';

const INTRO = `# Configuration

<!-- Written by \`npm run docs\` from the option tables in src/. Edit those. -->

One TOML file. It is the first of

1. the file given by \`--config FILE\`,
2. the file that the environment variable \`FORGE_CONFIG\` names,
3. \`$XDG_CONFIG_HOME/forge/config.toml\`, or \`~/.config/forge/config.toml\` where \`XDG_CONFIG_HOME\` is not set.

A missing file is an error in the first two cases; in the third the profile \`guarded\` holds, or that of \`--profile\`: every
tool is offered, and calls with side effects are asked about. A file that is there starts from the defaults below, which
offer nothing, unless its \`profile\` says otherwise. The workspace is never searched: a repository cannot configure the
tools that work on it.

- A number out of its range is replaced by the nearest end of the range, with a warning.
- A value of the wrong type, or one that is not among the choices, stops start-up.
- An unknown key is ignored, with a warning that names the nearest known one.
- In a *path*, \`\${NAME}\` is replaced by the environment variable; one that is not set leaves the setting empty, with a
  warning. \`\${TEMP}\` is the temporary directory of the operating system where the variable is not set. A relative path
  starts at the working directory.

Settings marked *extension* are ours; the specification of the tool does not have them.
`;

/** What stands before the first table of the file. */
const TOP = '## At the top of the file';

interface NamedSection {
  readonly name: string;
  readonly section: Section;
  readonly settings: readonly (readonly [string, Setting])[];
}

/** docs/config.md: every setting of the schema, and a file that spells the defaults out. */
export function renderConfigReference(schema: Section): string {
  const sections = listSections(schema, '').filter(({settings}) => settings.length > 0);
  const example = [
    '## A complete file',
    '',
    'All defaults, spelled out.',
    '',
    ...renderExample(sections),
    '',
  ];
  return [INTRO, ...sections.map(renderSection), example.join('\n')].join('\n');
}

function listSections(section: Section, name: string): readonly NamedSection[] {
  const settings: [string, Setting][] = [];
  const below: NamedSection[] = [];
  for (const [key, entry] of Object.entries(section.entries)) {
    if (entry.kind === 'section') below.push(...listSections(entry, name === '' ? key : `${name}.${key}`));
    else settings.push([key, entry]);
  }
  return [{name, section, settings}, ...below];
}

function renderSection({name, section, settings}: NamedSection): string {
  const rows = settings.map(([key, setting]) => {
    const what =
      setting.extension === true && section.extension !== true ? `*Extension.* ${setting.doc}` : setting.doc;
    const cells = [`\`${key}\``, typeOf(setting), `\`${toToml(setting.default)}\``, rangeOf(setting), what];
    return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [
    name === '' ? TOP : `## \`[${name}]\``,
    '',
    section.extension === true ? `*Extension.* ${section.doc}` : section.doc,
    '',
    '| key | type | default | range | what |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    ...settings.flatMap(([key, setting]) =>
      setting.kind === 'table-list' ? renderTableKeys(`${name}.${key}`, setting) : [],
    ),
  ].join('\n');
}

/** The keys of an array of tables, as a list: they are no settings of the section. */
function renderTableKeys(name: string, {entries, required}: TableListSetting): readonly string[] {
  const keys = Object.entries(entries).map(([key, setting]) => {
    const kind = [typeOf(setting), rangeOf(setting), required.includes(key) ? 'required' : ''];
    return `- \`${key}\` (${kind.filter(part => part !== '').join(', ')}): ${setting.doc}`;
  });
  return [`Keys of a \`[[${name}]]\`:`, '', ...keys, ''];
}

function renderExample(sections: readonly NamedSection[]): readonly string[] {
  const tables = sections.map(({name, section, settings}) => [
    `# ${section.doc}`,
    ...(name === '' ? [] : [`[${name}]`]),
    ...settings.flatMap(([key, setting]) => [
      `# ${commentOf(setting)}`,
      `${key} = ${toToml(setting.default)}`,
    ]),
    '',
  ]);
  return ['```toml', ...tables.flat().slice(0, -1), '```'];
}

function commentOf(setting: Setting): string {
  const range = rangeOf(setting).replaceAll('`', '');
  return range === '' ? setting.doc : `${setting.doc} (${range})`;
}

function typeOf(setting: Setting): string {
  switch (setting.kind) {
    case 'flag':
      return 'boolean';
    case 'integer':
      return 'integer';
    case 'choice':
      return 'string';
    case 'text':
      return setting.path === true ? 'path' : 'string';
    case 'text-list':
      return 'array of strings';
    case 'integer-list':
      return 'array of integers';
    case 'open-table':
      return 'table';
    case 'table-list':
      return 'array of tables';
  }
}

function rangeOf(setting: Setting): string {
  if (setting.kind === 'choice') return setting.choices.map(choice => `\`"${choice}"\``).join(', ');
  if (setting.kind !== 'integer') return '';
  const range = `${setting.min}-${setting.max}`;
  return setting.unit === undefined ? range : `${range} ${setting.unit}`;
}

/** For the values that defaults have, JSON is TOML; an open table is empty. */
function toToml(value: Setting['default']): string {
  return Array.isArray(value)
    ? `[${value.map(entry => JSON.stringify(entry)).join(', ')}]`
    : JSON.stringify(value);
}
