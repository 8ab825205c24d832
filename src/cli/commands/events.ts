// `events verify`: checks that the event log of a run was not changed.
import {defineCommand, EXIT} from '../command.ts';
import {printable} from '../console.ts';
import type {LogCheck} from '../toolbox-services.ts';

export const eventsCommand = defineCommand({
  usage: 'verify RUN',
  takes: [
    args => args.length === 2 && args[0] === 'verify',
    'Expected "events verify RUN", where RUN is a directory, the name of a run, or "latest".',
  ],
  flags: {
    json: {type: 'boolean', help: 'Print the verdict as JSON.'},
  },
  examples: [
    'forge-tools events verify latest',
    'forge-tools events verify runs/1',
    'forge-tools events verify runs/1/events.jsonl --json',
  ],
  async run({args: [, run = ''], environment, services}) {
    const {locateRun, verifyRun} = await services();
    const found = await locateRun(run, environment);
    const check = found.ok ? await verifyRun(found.value) : found;
    if (!check.ok) return check;
    const code = check.value.state === 'tampered' ? EXIT.failed : EXIT.ok;
    return {json: check.value, text: `${printable(describe(check.value))}\n`, code};
  },
});

function describe({state, events, head, tornBytes, problem}: LogCheck): string {
  const lines = `${events} ${events === 1 ? 'event' : 'events'}`;
  switch (state) {
    case 'intact':
      return `Intact: ${lines}, head ${head}.`;
    case 'torn':
      return `Intact up to a crash: ${lines}, head ${head}. ${tornBytes} bytes of an unfinished line follow; the next session puts them aside.`;
    case 'tampered':
      return `TAMPERED: line ${problem?.line ?? events + 1} ${problem?.reason ?? 'does not verify'}. ${lines} before it verify, head ${head}.`;
  }
}
