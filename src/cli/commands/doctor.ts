import type {CommandContext, CommandDefinition} from '../command.ts';
import {type Console, styled} from '../console.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {TOOLBOX_FLAGS} from '../flags/toolbox-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {printWarnings} from '../print-warnings.ts';
import {readSettings} from '../read-settings.ts';
import type {Probe} from '../toolbox-services.ts';

const FLAGS = {
  json: {type: 'boolean', help: 'Print one JSON object on each line.'},
  config: TOOLBOX_FLAGS.config,
} as const;

export const doctorCommand: CommandDefinition = {
  usage: '',
  flags: FLAGS,
  examples: ['forge-tools doctor', 'forge-tools doctor --json | jq -r \'select(.state != "ok") | .remedy\''],
  async run(argv, context: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    if (positionals.length > 0) throw new UsageError('doctor takes no arguments.');
    const {console, environment, services, signal} = context;
    const {resolved} = await readSettings(values, context);
    printWarnings(resolved, console);
    const {probe} = await services();
    const probes = await probe(resolved.config, {environment, signal});
    await console.out(
      values.json
        ? probes.map(found => `${JSON.stringify(found)}\n`).join('')
        : `${probes.map(found => render(found, console)).join('')}${verdict(probes)}\n`,
    );
    if (signal.aborted) return EXIT.interrupted;
    return probes.some(isProblem) ? EXIT.failed : EXIT.ok;
  },
};

/** One of them is enough. */
const SANDBOXES = ['bubblewrap', 'Docker'];

const MARKS = {
  ok: ['green', 'ok     '],
  unused: ['dim', 'unused '],
  missing: ['red', 'MISSING'],
  broken: ['red', 'BROKEN '],
} as const satisfies Record<Probe['state'], readonly [Parameters<typeof styled>[1], string]>;

function isProblem({state}: Probe): boolean {
  return state === 'missing' || state === 'broken';
}

/** One line that a person who reads no other one needs. */
function verdict(probes: readonly Probe[]): string {
  const problems = probes.filter(isProblem);
  const names = problems.map(({name}) => name);
  if (names.length === 0) return 'Everything that this configuration needs is here.';
  const lacksBoth = SANDBOXES.every(name => names.includes(name));
  const listed = names.filter(name => !lacksBoth || !SANDBOXES.includes(name));
  if (lacksBoth) listed.push('a sandbox for run (bubblewrap or Docker; one is enough)');
  return `Missing or broken: ${listed.join(', ')}. Everything else works.`;
}

function render(probe: Probe, console: Console): string {
  const {name, state, version, detail, neededFor, remedy} = probe;
  const [style, mark] = MARKS[state];
  const label = styled(console, 'bold', version === undefined ? name : `${name} ${version}`);
  const head = `${styled(console, style, mark)} ${label}  ${styled(console, 'dim', detail)}`;
  if (!isProblem(probe)) return `${head}\n`;
  return [head, `        without it: ${neededFor}`, `        to get it:  ${remedy}`, ''].join('\n');
}
