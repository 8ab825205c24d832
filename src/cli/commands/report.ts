import {resolve} from 'node:path';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {renderFailure} from '../render/render-failure.ts';
import {printable} from '../terminal/printable.ts';
import type {WrittenReport} from '../toolbox-services.ts';

const FLAGS = {
  out: {type: 'string', value: 'FILE', help: 'The page to write. Default: report.html in the run directory.'},
  live: {
    type: 'boolean',
    help: 'Serve the page on loopback instead, and follow the run in it until Ctrl-C.',
  },
  json: {type: 'boolean', help: 'Print what was written, or where it is served, as JSON.'},
} as const;

export const reportCommand: CommandDefinition = {
  usage: 'RUN [--out FILE | --live]',
  flags: FLAGS,
  examples: [
    'forge-tools report latest',
    'forge-tools report runs/1 --out report.html',
    'forge-tools report runs/1 --live',
  ],
  async run(argv, context: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [run, ...more] = positionals;
    if (run === undefined || run === '' || more.length > 0) {
      throw new UsageError('report needs one run: a directory, the name of a run, or "latest".');
    }
    if (values.live && values.out !== undefined) throw new UsageError('--live writes no file; leave --out.');
    if (values.out === '') throw new UsageError('--out takes the name of a file.');
    if (values.live) return follow(run, values.json === true, context);
    const {console, environment, services} = context;
    const out = values.out === undefined ? undefined : resolve(environment.cwd, values.out);
    const written = await (await services()).writeReport(run, out, environment);
    if (!written.ok) {
      console.err(renderFailure(written.error, undefined, console));
      return EXIT.failed;
    }
    await console.out(
      values.json ? `${JSON.stringify(written.value)}\n` : printable(describe(written.value)),
    );
    return written.value.log === 'tampered' || written.value.altered > 0 ? EXIT.failed : EXIT.ok;
  },
};

/** Serves until Ctrl-C, which is how it ends in good order. */
async function follow(run: string, json: boolean, context: CommandContext): Promise<ExitCode> {
  const {console, environment, services, signal} = context;
  const followed = await (await services()).followRun(run, environment);
  if (!followed.ok) {
    console.err(renderFailure(followed.error, undefined, console));
    return EXIT.failed;
  }
  const {path, url, close} = followed.value;
  try {
    await console.out(json ? `${JSON.stringify({path, url})}\n` : `${url}\n`);
    if (!json)
      console.err(
        `Following ${printable(path)}; Ctrl-C ends it. Anyone with the address can read the run.\n`,
      );
    await new Promise<void>(done => {
      if (signal.aborted) done();
      else signal.addEventListener('abort', () => done(), {once: true});
    });
  } finally {
    await close();
  }
  return EXIT.ok;
}

function describe({path, calls, refused, failed, durationSec, log, altered}: WrittenReport): string {
  const state = {
    intact: 'log intact',
    torn: 'log intact up to a crash',
    tampered: 'THE LOG WAS CHANGED after it was written',
  }[log];
  const changed = altered > 0 ? `; ${altered} FILES are missing or were changed` : '';
  const facts = `${calls} ${calls === 1 ? 'call' : 'calls'}, ${refused} refused, ${failed} failed, ${durationSec.toFixed(1)} s`;
  return `${path}\n${facts}; ${state}${changed}.\n`;
}
