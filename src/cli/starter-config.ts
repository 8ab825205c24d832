import {configSchema} from '../config/config-schema.ts';
import {renderConfigReference} from '../config/render-reference.ts';

const INTRO = [
  '# Configuration of forge-tools. Every setting stands here with its default; take the "#" off to change it.',
  '# "forge-tools config" prints what is in force, "forge-tools doctor" what this machine lacks.',
  '',
].join('\n');

/**
 * The file that `config --init` writes: the tools are switched on, everything else stands as a comment,
 * so that a later version's defaults reach whoever did not choose otherwise.
 */
export function starterConfig(): string {
  const [, example] = /^```toml\n(.*?)^```$/ms.exec(renderConfigReference(configSchema)) ?? [];
  if (example === undefined) throw new Error('Expected an example in the configuration reference.');
  const settings = example.replace(/^(?=\w+ = )/gm, '#');
  return `${INTRO}\n${settings.replace('#mode = "disabled"', 'mode = "enabled"')}`;
}
