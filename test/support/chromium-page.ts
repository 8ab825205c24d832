import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Readable, Writable} from 'node:stream';
import {onTestFinished} from 'vitest';
import {TEST_CHROMIUM} from './parts.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** A page in a real browser, as a reader has it: nothing of ours stands between it and the network. */
export interface ChromiumPage {
  readonly evaluate: (expression: string) => Promise<unknown>;
  readonly press: (key: string) => Promise<void>;
  readonly insert: (text: string) => Promise<void>;
  /** Waits until the expression is true; fails the test where it does not become so. */
  readonly until: (expression: string) => Promise<void>;
  readonly resize: (width: number, height: number) => Promise<void>;
  readonly colors: (scheme: 'light' | 'dark') => Promise<void>;
  readonly screenshot: (file: string) => Promise<void>;
  /** Everything the page asked for, itself first. */
  readonly requests: readonly string[];
  /** What the browser or the page complained about: errors, and breaches of the content security policy. */
  readonly complaints: readonly string[];
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: {readonly message: string};
}

const KEY_CODES: Readonly<Record<string, number>> = {
  Enter: 13,
  Escape: 27,
  Tab: 9,
  ArrowDown: 40,
  ArrowUp: 38,
};

/** Opens the address in a browser of its own, which is gone with the test. */
export async function openChromiumPage(url: string): Promise<ChromiumPage> {
  const profile = temporaryDirectory();
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const flags = [
    '--headless',
    '--remote-debugging-pipe',
    '--no-first-run',
    '--disable-gpu',
    '--disable-dev-shm-usage',
  ];
  const quiet = [
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--hide-scrollbars',
  ];
  const child = spawn(
    TEST_CHROMIUM,
    [...flags, ...quiet, ...sandbox, `--user-data-dir=${join(profile, 'p')}`, 'about:blank'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true},
  );
  const gone = new Promise(resolve => child.once('exit', resolve));
  onTestFinished(async () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await gone;
  });
  const [, , , input, output] = child.stdio as unknown[];
  if (!(input instanceof Writable && output instanceof Readable)) throw new Error('There are no pipes.');
  const pending = new Map<number, (answer: Answer) => void>();
  const requests: string[] = [];
  const complaints: string[] = [];
  let rest = Buffer.alloc(0);
  output.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const answer: Answer = JSON.parse(rest.subarray(0, end).toString());
      rest = rest.subarray(end + 1);
      if (answer.id !== undefined) pending.get(answer.id)?.(answer);
      else hear(answer.method ?? '', answer.params ?? {});
    }
  });
  let lastId = 0;
  let session: string | undefined;
  const send = async (
    method: string,
    params: Record<string, unknown> = {},
  ): Promise<Record<string, unknown>> => {
    lastId += 1;
    const id = lastId;
    const answered = new Promise<Answer>(resolve => pending.set(id, resolve));
    input.write(`${JSON.stringify({id, method, params, sessionId: session})}\0`);
    const {result, error} = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  const evaluate = async (expression: string): Promise<unknown> => {
    const {result, exceptionDetails} = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      allowUnsafeEvalBlockedByCSP: false,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails).slice(0, 500));
    return (result as {readonly value?: unknown}).value;
  };
  const until = async (expression: string): Promise<void> => {
    const wait = `new Promise((done, failed) => {
      const end = performance.now() + 40000;
      const look = () => (${expression}) ? done() : performance.now() > end ? failed(new Error('never')) : setTimeout(look, 20);
      look();
    })`;
    await evaluate(wait);
  };

  const {targetInfos} = await send('Target.getTargets');
  const target = (targetInfos as {type: string; targetId: string}[]).find(({type}) => type === 'page');
  const {sessionId} = await send('Target.attachToTarget', {targetId: target?.targetId, flatten: true});
  session = String(sessionId);
  for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'Audits']) await send(`${domain}.enable`);
  await send('Page.navigate', {url});
  await until('document.readyState === "complete"');

  return {
    evaluate,
    until,
    requests,
    complaints,
    press: async key => {
      const code = KEY_CODES[key];
      const text = code === undefined ? key : key === 'Enter' ? '\r' : undefined;
      const event = {key, text, windowsVirtualKeyCode: code ?? 0};
      await send('Input.dispatchKeyEvent', {type: text === undefined ? 'rawKeyDown' : 'keyDown', ...event});
      await send('Input.dispatchKeyEvent', {type: 'keyUp', ...event});
    },
    insert: async text => void (await send('Input.insertText', {text})),
    resize: async (width, height) =>
      void (await send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: width < 500,
      })),
    colors: async value =>
      void (await send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]})),
    screenshot: async file => {
      const {data} = await send('Page.captureScreenshot', {format: 'png'});
      writeFileSync(file, Buffer.from(String(data), 'base64'));
    },
  };

  function hear(method: string, params: Record<string, unknown>): void {
    if (method === 'Network.requestWillBeSent') requests.push((params['request'] as {url: string}).url);
    if (
      method === 'Runtime.exceptionThrown' ||
      method === 'Log.entryAdded' ||
      method === 'Audits.issueAdded'
    ) {
      complaints.push(`${method} ${JSON.stringify(params).slice(0, 400)}`);
    }
    if (method === 'Page.javascriptDialogOpening') complaints.push(`dialog ${JSON.stringify(params)}`);
  }
}
