import type {Config} from '../../config/config-schema.ts';
import type {Json} from '../../core/json.ts';

type Table = {readonly [key: string]: Json};

/** The settings in force as TOML that could be a configuration file; what is not a default is marked. */
export function renderConfig(config: Config, defaults: Config): string {
  return renderTable('', config, defaults).join('\n');
}

function renderTable(name: string, table: Table, defaults: Table): readonly string[] {
  const settings: string[] = [];
  const below: string[] = [];
  for (const [key, value] of Object.entries(table)) {
    const standard = defaults[key] ?? null;
    // A table of the schema; one that an operator filled has other keys than its default.
    if (isTable(value) && isTable(standard) && Object.keys(standard).length > 0) {
      below.push(...renderTable(name === '' ? key : `${name}.${key}`, value, standard));
    } else {
      const mark = JSON.stringify(value) === JSON.stringify(standard) ? '' : '  # set';
      settings.push(`${key} = ${toToml(value)}${mark}`);
    }
  }
  return [
    ...(settings.length === 0 ? [] : [...(name === '' ? [] : [`[${name}]`]), ...settings, '']),
    ...below,
  ];
}

/** One line, whatever it is. JSON's strings are TOML's but for DEL, which TOML wants escaped. */
function toToml(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`;
  if (isTable(value)) {
    const entries = Object.entries(value).map(([key, entry]) => `${JSON.stringify(key)} = ${toToml(entry)}`);
    return entries.length === 0 ? '{}' : `{${entries.join(', ')}}`;
  }
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}

function isTable(value: Json): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
