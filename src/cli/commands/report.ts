// `report`: writes the page of a run, or serves it and follows the run.
import {resolve} from 'node:path';
import {type Answer, type CommandContext, defineCommand, EXIT} from '../command.ts';
import {printable} from '../console.ts';
import {UsageError} from '../flags.ts';
import type {WrittenReport} from '../toolbox-services.ts';

export const reportCommand = defineCommand({
  usage: 'RUN [--out FILE | --live]',
  takes: [
    args => args.length === 1 && args[0] !== '',
    'report needs one run: a directory, the name of a run, or "latest".',
  ],
  // biome-ignore format: a flag is a line
  flags: {
    out: {type: 'string', value: 'FILE', help: 'The page to write. Default: report.html in the run directory.'},
    live: {type: 'boolean', help: 'Serve the page on loopback instead, and follow the run in it until Ctrl-C.'},
    json: {type: 'boolean', help: 'Print what was written, or where it is served, as JSON.'},
  },
  examples: [
    'forge-tools report latest',
    'forge-tools report runs/1 --out report.html',
    'forge-tools report runs/1 --live',
  ],
  async run({values, args: [run = ''], ...context}) {
    if (values.live && values.out !== undefined) throw new UsageError('--live writes no file; leave --out.');
    if (values.out === '') throw new UsageError('--out takes the name of a file.');
    if (values.live) return follow(run, values.json === true, context);
    const {environment, services} = context;
    const out = values.out === undefined ? undefined : resolve(environment.cwd, values.out);
    const written = await (await services()).writeReport(run, out, environment);
    if (!written.ok) return written;
    const isChanged = written.value.log === 'tampered' || written.value.altered > 0;
    return {
      json: written.value,
      text: printable(describe(written.value)),
      code: isChanged ? EXIT.failed : EXIT.ok,
    };
  },
});

/** Serves until Ctrl-C, which is how it ends in good order. */
async function follow(run: string, json: boolean, context: CommandContext): Promise<Answer> {
  const {console, environment, services, signal} = context;
  const followed = await (await services()).followRun(run, environment);
  if (!followed.ok) return followed;
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
