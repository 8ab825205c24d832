import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {FAILURE_CODES} from '../../../src/core/failure-codes.ts';
import {verifyRun} from '../../../src/create-toolbox/services.ts';
import {faultCodesFor} from './faults-codes.ts';
import {type Answer, FAULT_FLOWS, type FaultFlow} from './faults-flows.ts';
import {type FaultCode, type Faults, installFaults, type Operation} from './faults-injector.ts';
import {type FaultPlace, openFaultPlace, readTree, type Tree} from './faults-place.ts';
import {type Held, heldByThisProcess, newlyHeld} from './faults-remains.ts';

// A process whose system fails: faults-host.js FLOW ORIGIN SANDBOX SHARE. Prints a `FaultReport`.

export interface FaultReport {
  /** Operations of the call when nothing fails. */
  readonly operations: number;
  readonly runs: number;
  /** What must not be, each with the operation that failed. */
  readonly violations: readonly string[];
}

/** No call of these takes longer than some milliseconds; a lock that nobody releases is waited for 5 s. */
const TOO_LONG_MS = 4000;

const NEEDS_SPACE = /\.(?:write|writeFile|writeSync|mkdir|mkdirSync|mkdtemp|link|copyFile|sync|fsyncSync)$/;

const [name = '', origin = '', sandbox = 'none', share = 'all'] = process.argv.slice(2);
const flow = FAULT_FLOWS[name] as FaultFlow;
const {before = flow.files, after = before, answer = 'ok'} = flow;

const faults: Faults = await installFaults();
const bugs: string[] = [];
const crashes: string[] = [];
process.on('unhandledRejection', error => bugs.push(`a rejection that nobody handles: ${error}`));
process.on('uncaughtException', error => bugs.push(`an exception that nobody catches: ${error.stack}`));

const violations: string[] = [];
let runs = 0;
let usual: ReadonlySet<string> = new Set();
let usualData: string | undefined;

// What is loaded once, such as the engines and the vocabulary, is no part of a call that fails.
await attempt('warming up', () => undefined);
const calm = await attempt('when nothing fails', () => undefined);
usual = new Set(calm.files);
usualData = calm.data;
for (let number = 1; number <= 2000; number += 1) {
  const operation = calm.operations[number - 1];
  if (share !== 'all' && number % 3 !== Number(share)) continue;
  // A box takes a third of a second to make and to unmake: all of its pipes, and of the others every fourth.
  const isSkipped = number % 4 !== 1 && operation !== undefined && !operation.kind.startsWith('socket.');
  if (sandbox === 'bubblewrap' && isSkipped) continue;
  const codes = operation === undefined ? (['EIO'] as const) : faultCodesFor(operation);
  let struck = false;
  for (const code of codes) {
    const once = await attempt(`${code} at ${number}`, (_, at) => (at === number ? code : undefined));
    struck ||= once.struck;
  }
  if (!struck) break;
  if (sandbox === 'bubblewrap') continue;
  // From here on everything fails: nothing can be tidied up, but nothing may be half written either.
  await attempt(`EIO from ${number} on`, (_, at) => (at >= number ? 'EIO' : undefined), true);
  if (operation !== undefined && NEEDS_SPACE.test(operation.kind)) {
    const isFull = ({kind}: Operation, at: number) => at >= number && NEEDS_SPACE.test(kind);
    await attempt(`ENOSPC from ${number} on`, (one, at) => (isFull(one, at) ? 'ENOSPC' : undefined), true);
  }
}
const report: FaultReport = {operations: calm.operations.length, runs, violations};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);

/** One call of the flow with faults, and everything that has to hold afterwards. */
async function attempt(
  what: string,
  strikes: (operation: Operation, number: number) => FaultCode | undefined,
  lasting = false,
) {
  runs += 1;
  const held = heldByThisProcess();
  const place = openFaultPlace({
    files: flow.files,
    origin,
    sandbox: sandbox === 'bubblewrap' ? 'bubblewrap' : 'none',
    log: ({event, message}) => event === 'tool_call_crashed' && crashes.push(message ?? event),
    resolve: faults.counted('resolve', async () => ['127.0.0.1']),
  });
  await flow.prepare(place);
  const started = performance.now();
  faults.arm(strikes);
  const {code: got, data} = await within(flow.act(place));
  const operations = faults.disarm();
  const tookMs = performance.now() - started;

  const failed = operations.find(operation => operation.failed !== undefined);
  const complain = (problem: string): void => {
    const at = failed === undefined ? '' : ` (${failed.kind} ${failed.subject.replace(place.base, '')})`;
    violations.push(`${what}${at}: ${problem}`);
  };
  if (got !== 'ok' && !(got in FAILURE_CODES)) complain(`the answer is ${got}`);
  for (const crash of crashes.splice(0)) complain(crash);
  if (failed === undefined && got !== answer) complain(`the answer is ${got}, expected ${answer}`);
  const isLess = data !== undefined && usualData !== undefined && data !== usualData;
  // What may not be read is passed over, as every search does.
  // A pipe that breaks is the end of what a command says.
  const isEnded = name === 'run' && failed?.kind === 'socket.push';
  // That the tree could not be looked at for repositories is said.
  const isSaid = /"truncated":true|"repositories_complete":false|"unreadable":[1-9]/.test(data ?? '');
  if (isLess && !isEnded && failed?.failed !== 'EACCES' && !isSaid)
    complain(`a success with other data: ${data}`);
  if (tookMs > TOO_LONG_MS) complain(`it took ${Math.round(tookMs)} ms`);
  const tidies = lasting || /unlink|rmdir|fsp\.rm/.test(failed?.kind ?? '');
  if (!lasting) checkTree(place, {got, data}, tidies, complain);
  await checkLog(place, failed, lasting, complain);
  const closed = await within(place.toolbox.close().then(() => ({code: 'ok'})));
  if (closed.code !== 'ok') complain(`closing: ${closed.code}`);
  const files = remains(place);
  if (!tidies && usual.size > 0) {
    const left = files.filter(file => !usual.has(file));
    if (left.length > 0) complain(`left behind: ${left.join(', ')}`);
  }
  await checkRestart(place, {got, data}, lasting, complain);
  const leaked = await stillHeld(held);
  // The first run keeps what is loaded once.
  if (leaked.length > 0 && runs > 1) complain(`still held: ${leaked.join(', ')}`);
  for (const bug of bugs.splice(0)) complain(bug);
  place.remove();
  return {operations, files, data, struck: failed !== undefined};
}

/** A success is the new tree and a failure the old one. */
function checkTree(
  place: FaultPlace,
  answered: Answered,
  tidies: boolean,
  complain: (problem: string) => void,
): void {
  const tree = readTree(place.workspace);
  const paths = Object.keys(tree)
    // W11: the place holder of a sandbox stays as long as its session.
    .filter(path => path !== '.git')
    .filter(path => !(tidies && /(?:^|\/)\.forge-[0-9a-f]+\.tmp$/.test(path)));
  const now = JSON.stringify(paths.map(path => [path, tree[path]]));
  const {got} = answered;
  if (now === canonical(got === 'ok' ? after : before)) return;
  if (isAsSaid(Object.fromEntries(paths.map(path => [path, tree[path] ?? ''])), answered)) return;
  if (now === canonical(before)) complain(`answered ${got}, but the workspace is the old one`);
  else if (now === canonical(after)) complain(`answered ${got}, but the workspace is the new one`);
  else complain(`the workspace is neither old nor new: ${now}`);
}

interface Answered {
  readonly got: string;
  readonly data: string | undefined;
}

/** A file that could not be read is as it was, and the answer says that there is one. */
function isAsSaid(tree: Tree, {got, data}: Answered): boolean {
  if (got !== 'ok' || !/"unreadable":[1-9]/.test(data ?? '')) return false;
  const paths = Object.keys(tree);
  const isOldOrNew = (path: string) => tree[path] === before[path] || tree[path] === after[path];
  return paths.length === Object.keys(before).length && paths.every(isOldOrNew);
}

function canonical(tree: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(tree).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The chain holds, and a call that began has ended, unless the log itself failed. */
async function checkLog(
  place: FaultPlace,
  failed: Operation | undefined,
  lasting: boolean,
  complain: (problem: string) => void,
): Promise<void> {
  const verified = await verifyRun(place.runDirectory);
  if (!verified.ok) {
    if (verified.error.code !== 'io_error' && name !== 'the first call') complain(verified.error.message);
    return;
  }
  if (verified.value.state !== 'intact') complain(`the log is ${verified.value.state}`);
  const log = readTree(place.runDirectory)['events.jsonl'] ?? '';
  const count = (event: string) => log.split(`"event":"${event}"`).length - 1;
  const isOfLog = /events\.jsonl/.test(failed?.subject ?? '');
  if (!lasting && !isOfLog && count('tool_call_started') !== count('tool_call_finished')) {
    complain('a call began in the log and did not end');
  }
}

/** Whoever comes next finds a workspace that can be worked on, old or new as the answer said. */
async function checkRestart(
  place: FaultPlace,
  answered: Answered,
  lasting: boolean,
  complain: (problem: string) => void,
): Promise<void> {
  const next = place.reopen();
  const list = () => {
    return within(
      next.toolbox.call({tool: 'list_files', params: {}, request_id: 'next'}).then(({error}) => {
        return {code: error === null ? 'ok' : `${error.error_type}: ${error.message}`};
      }),
    );
  };
  let listed = await list();
  // A lock that could neither be filled nor removed is given up for dead in its time.
  if (listed.code !== 'ok' && lasting) listed = await list();
  if (listed.code !== 'ok') complain(`the next session: ${listed.code}`);
  const tree = readTree(next.workspace);
  for (const path of Object.keys(tree))
    if (/\.forge-[0-9a-f]+\.tmp$/.test(path)) rmSync(join(next.workspace, path));
  const recovered = readTree(next.workspace);
  const now = canonical(recovered);
  await next.toolbox.close();
  if (isAsSaid(recovered, answered)) return;
  const isWhole = now === canonical(before) || now === canonical(after);
  if (lasting && !isWhole) complain(`recovered, it is neither old nor new: ${now}`);
  if (lasting) return;
  if (now !== canonical(answered.got === 'ok' ? after : before))
    complain('the next session changed the workspace');
}

/** Names of all files but the workspace's, with what is random in them levelled. */
function remains({base}: FaultPlace): readonly string[] {
  return Object.keys(readTree(base))
    .filter(path => !path.startsWith('work/'))
    .map(path => path.replace(/[0-9a-f]{8,}/g, 'X').replace(/X\/?[0-9a-f]*X?/g, 'X'));
}

function within(work: Promise<Answer>): Promise<Answer> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve({code: 'nothing within 20 s'}), 20_000);
    work
      .catch((error: unknown) => ({code: `an exception: ${error instanceof Error ? error.stack : error}`}))
      .then(value => {
        clearTimeout(timer);
        resolve(value);
      });
  });
}

/** What was told to end may take a moment. */
async function stillHeld(before: Held): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const leaked = newlyHeld(before, heldByThisProcess());
    if (leaked.length === 0 || tries === 500) return leaked;
    await new Promise(resolve => {
      if (tries < 5) setImmediate(resolve);
      else setTimeout(resolve, 10);
    });
  }
}
