// `doctor`: opens every part as a call would, and says what is missing and how to get it.
import type {OpenToolbox} from '../../create-toolbox.ts';
import {defineCommand, EXIT} from '../command.ts';
import {type Console, printable, styled} from '../console.ts';
import {describeOffer, openWithStart, type Start, whyNotMore} from '../open-toolbox.ts';
import {SESSION_FLAGS} from '../session-flags.ts';

type Probe = Awaited<ReturnType<OpenToolbox['probe']>>[number];

const {config, profile, workspace, groups} = SESSION_FLAGS;

export const doctorCommand = defineCommand({
  usage: '',
  interruptible: true,
  takes: [args => args.length === 0, 'doctor takes no arguments.'],
  flags: {
    json: {type: 'boolean', help: 'Print one JSON object on each line.'},
    workspace,
    profile,
    groups,
    config,
  },
  examples: ['forge-tools doctor', 'forge-tools doctor --json | jq -r \'select(.state != "ok") | .remedy\''],
  async run({values, ...context}) {
    const {console, signal} = context;
    const start = await openWithStart(values, context);
    try {
      const probes = [offer(start), ...(await start.toolbox.probe(signal))];
      return {
        json: probes,
        text: `${probes.map(found => render(found, console)).join('')}${verdict(probes)}\n`,
        code: probes.some(isProblem) ? EXIT.failed : EXIT.ok,
      };
    } finally {
      await start.toolbox.close();
    }
  },
});

/** A client that gets no tool is what most people look for here. */
function offer(start: Start): Probe {
  const reasons = whyNotMore(start);
  return {
    name: 'Tools',
    state: start.toolbox.listTools().length === 0 ? 'missing' : 'ok',
    version: undefined,
    detail: reasons.length === 0 ? describeOffer(start) : `${describeOffer(start)}. ${reasons.join(' ')}`,
    neededFor: 'an agent can call nothing',
    remedy: `put profile = "guarded" at the top of the configuration file, and take out what switches tools off`,
  };
}

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
  const names = probes.filter(isProblem).map(({name}) => name);
  if (names.length === 0) return 'Everything that this configuration needs is here.';
  return `Missing or broken: ${names.join(', ')}.${names.includes('Tools') ? '' : ' Everything else works.'}`;
}

function render(probe: Probe, console: Console): string {
  const {name, state, version, detail, neededFor, remedy} = probe;
  const [style, mark] = MARKS[state];
  const label = styled(console, 'bold', version === undefined ? name : `${name} ${version}`);
  const head = `${styled(console, style, mark)} ${label}  ${styled(console, 'dim', printable(detail))}`;
  if (!isProblem(probe)) return `${head}\n`;
  return [head, `        without it: ${neededFor}`, `        to get it:  ${remedy}`, ''].join('\n');
}
