// Renders docs/config.md from the table of settings: each setting, and a complete file with the defaults.
import type {Json} from '../core/result.ts';
import type {Section, Setting, TableListSetting} from '../core/setting.ts';
import {fillProfile, UNCONFIGURED} from './profiles.ts';
import {isTable} from './raw-values.ts';

const INTRO = `# Configuration

<!-- Written by \`npm run docs\` from the option tables in src/. Edit those. -->

To change a setting, take the \`#\` off its line in the configuration file:

\`\`\`
$ forge-tools config --init     # writes ~/.config/forge-tools/config.toml, with every setting as a comment
$ forge-tools config            # prints the settings in force
\`\`\`

The file is the first of

1. \`--config FILE\`,
2. the file in \`FORGE_TOOLS_CONFIG\`,
3. \`$XDG_CONFIG_HOME/forge-tools/config.toml\`, or \`~/.config/forge-tools/config.toml\`.

A missing file is an error in the first two cases. Without \`profile\` and without \`tools.mode\`, the profile \`${UNCONFIGURED}\`
fills the rest, with or without a file. A file with \`tools.mode\` and no profile has the defaults of the specification, which
the tables show second. The workspace is never searched: a repository cannot configure the tools that work on it.

- A number out of its range becomes the nearest end of the range, with a warning.
- A value of the wrong type, or outside the choices, stops the start.
- An unknown key is ignored, with a warning that names the nearest known one.
- In a *path*, \`\${NAME}\` is replaced by the environment variable. An unset one leaves the setting empty, with a warning.
  \`\${TEMP}\` is the system's temporary directory, \`\${XDG_CACHE_HOME}\` your cache directory. \`~\` is not expanded. A relative
  path starts at the working directory.

\`[tools.webfetch]\` configures \`web_fetch\`. The action \`patch_file\` means \`str_replace\`, \`apply_patch\` and other edits. These are
names of the tool's specification. It does not have the settings marked *extension*.
`;

/** What stands before the first table of the file. */
const TOP = '## At the top of the file';

interface NamedSection {
  readonly name: string;
  readonly section: Section;
  readonly settings: readonly (readonly [string, Setting])[];
}

/** docs/config.md: every setting of the schema, and a file that spells the defaults out. */
export function renderConfigReference(schema: Section, filled = fillProfile()): string {
  const sections = nonEmpty(schema);
  const example = [
    '## A complete file',
    '',
    'All defaults, spelled out.',
    '',
    '```toml',
    ...renderFile(sections, filled, false),
    '```',
    '',
  ];
  return [INTRO, ...sections.map(section => renderSection(section, filled)), example.join('\n')].join('\n');
}

/** A file that spells the defaults out, each below its sentence. */
export function renderConfigFile(schema: Section, filled = fillProfile()): string {
  return `${renderFile(nonEmpty(schema), filled, true).join('\n')}\n`;
}

function nonEmpty(schema: Section): readonly NamedSection[] {
  return listSections(schema, '').filter(({settings}) => settings.length > 0);
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

function renderSection({name, section, settings}: NamedSection, filled: unknown): string {
  const rows = settings.map(([key, setting]) => {
    const what =
      setting.extension === true && section.extension !== true ? `*Extension.* ${setting.doc}` : setting.doc;
    const [usual, plain] = [defaultOf(name, key, setting, filled), setting.default].map(toToml);
    const standard = usual === plain ? `\`${usual}\`` : `\`${usual}\`; \`${plain}\` without a profile`;
    const cells = [`\`${key}\``, typeOf(setting), standard, rangeOf(setting), what];
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

function renderFile(
  sections: readonly NamedSection[],
  filled: unknown,
  withSentences: boolean,
): readonly string[] {
  const sentence = (text: string): readonly string[] => (withSentences ? [`# ${text}`] : []);
  const tables = sections.map(({name, section, settings}) => [
    ...sentence(section.doc),
    ...(name === '' ? [] : [`[${name}]`]),
    ...settings.flatMap(([key, setting]) => [
      ...sentence(commentOf(setting)),
      `${key} = ${toToml(defaultOf(name, key, setting, filled))}`,
    ]),
    '',
  ]);
  return tables.flat().slice(0, -1);
}

/** The default where nothing is written: that of the profile, else that of the schema. */
function defaultOf(section: string, key: string, setting: Setting, filled: unknown): Setting['default'] {
  const path = [...section.split('.'), key].filter(name => name !== '');
  const value = path.reduce<unknown>((table, name) => (isTable(table) ? table[name] : undefined), filled);
  return (value ?? setting.default) as Setting['default'];
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

/** One line, whatever it is. JSON's strings are TOML's but for DEL, which TOML wants escaped. */
export function toToml(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`;
  if (isTable(value)) {
    const entries = Object.entries(value).map(([key, entry]) => `${JSON.stringify(key)} = ${toToml(entry)}`);
    return entries.length === 0 ? '{}' : `{${entries.join(', ')}}`;
  }
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
