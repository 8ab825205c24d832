import {configSchema} from '../../config/config-schema.ts';
import {UNCONFIGURED} from '../../config/fill-profile.ts';
import {renderConfigReference} from '../../config/render-reference.ts';

/** Section, line and what stands there instead. */
const CHOSEN = [
  ['', '#profile = "none"', `profile = "${UNCONFIGURED}"`],
  ['[tools]', '#mode = "disabled"', 'mode = "enabled"'],
  ['[tools.taint]', '#mode = "off"', 'mode = "warn"'],
  ['[tools.webfetch]', '#enabled = false', 'enabled = true'],
  ...['markdown', 'json', 'feeds', 'pdf'].map(
    media => ['[tools.webread.media]', `#${media} = false`, `${media} = true`] as const,
  ),
] as const;

const INTRO = [
  '# Configuration of forge-tools. Every tool is on, and calls with side effects are asked about. Every other setting',
  '# stands here with its default; take the "#" off to change it.',
  '# "forge-tools config" prints what is in force, "forge-tools doctor" what this machine lacks.',
  '',
].join('\n');

/**
 * Ruling H7: the file that `config --init` writes offers what is offered without one; everything else stands as
 * a comment, so that a later version's defaults reach whoever did not choose otherwise.
 */
export function starterConfig(): string {
  const [, example] = /^```toml\n(.*?)^```$/ms.exec(renderConfigReference(configSchema)) ?? [];
  if (example === undefined) throw new Error('Expected an example in the configuration reference.');
  const settings = example.replace(/^(?=\w+ = )/gm, '#');
  return `${INTRO}\n${CHOSEN.reduce((text, [section, from, to]) => choose(text, section, from, to), settings)}`;
}

/** The first such line behind the head of its section. */
function choose(text: string, section: string, from: string, to: string): string {
  const head = section === '' ? 0 : text.indexOf(`\n${section}\n`);
  const at = head === -1 ? -1 : text.indexOf(`\n${from}\n`, head);
  if (at === -1) throw new Error(`Expected ${from} below ${section} in the configuration reference.`);
  return `${text.slice(0, at + 1)}${to}${text.slice(at + 1 + from.length)}`;
}
