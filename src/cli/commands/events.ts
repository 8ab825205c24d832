import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {renderFailure} from '../render/render-failure.ts';
import {printable} from '../terminal/printable.ts';
import type {LogCheck} from '../toolbox-services.ts';

const FLAGS = {
  json: {type: 'boolean', help: 'Print the verdict as JSON.'},
} as const;

export const eventsCommand: CommandDefinition = {
  usage: 'verify RUN',
  flags: FLAGS,
  examples: [
    'forge-tools events verify latest',
    'forge-tools events verify runs/1',
    'forge-tools events verify runs/1/events.jsonl --json',
  ],
  async run(argv, {console, environment, services}: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [verb, run, ...more] = positionals;
    if (verb !== 'verify' || run === undefined || more.length > 0) {
      throw new UsageError(
        'Expected "events verify RUN", where RUN is a directory, the name of a run, or "latest".',
      );
    }
    const {locateRun, verifyRun} = await services();
    const found = await locateRun(run, environment);
    const check = found.ok ? await verifyRun(found.value) : found;
    if (!check.ok) {
      console.err(renderFailure(check.error, undefined, console));
      return EXIT.failed;
    }
    await console.out(`${values.json ? JSON.stringify(check.value) : printable(describe(check.value))}\n`);
    return check.value.state === 'tampered' ? EXIT.failed : EXIT.ok;
  },
};

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
