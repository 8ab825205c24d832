// The recorded session of the demo: the project, the calls, and what each came to. `playScene` makes the calls
// again and compares.
import {cp, mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {packageFile} from '../core/package-file.ts';
import type {Json} from '../core/result.ts';
import type {ToolResult} from '../core/tool.ts';
import type {ApprovalAnswer, ApprovalQuestion, Approver, FailureCode, ToolHost} from '../index.ts';
import {renderQuestion} from './approve-at-terminal.ts';
import {type Console, printable, styled} from './console.ts';

const MOST_LINES = 14;

interface SceneOutcome {
  readonly asRecorded: number;
  readonly total: number;
  /** Steps that this machine lacks a part for. */
  readonly lacking: number;
  /** What must not work, and did not. */
  readonly blocked: readonly string[];
}

/** Makes the recorded calls one after the other, and says of each whether it went as it did then. */
export async function playScene(
  steps: readonly SceneStep[],
  host: ToolHost,
  console: Console,
  signal: AbortSignal,
): Promise<SceneOutcome> {
  let asRecorded = 0;
  let lacking = 0;
  const blocked: string[] = [];
  for (const [index, step] of steps.entries()) {
    if (signal.aborted) break;
    const {tool, params} = step;
    const call = printable(JSON.stringify(params));
    const shown = call.length > 100 ? `${call.slice(0, 99)}…` : call;
    await console.out(
      `\n${styled(console, 'bold', `${index + 1}. ${step.title}`)}\n   ${styled(console, 'cyan', `${tool} ${shown}`)}\n`,
    );
    const approver = recordedApprover(step, console);
    const result = await host.call({tool, params, request_id: `demo-${index + 1}`}, {signal, approver});
    const text = host.renderText(result);
    await console.out(indented(readable(text, result)));
    if (step.unless !== undefined && result.error?.code === step.unless.code) {
      lacking += 1;
      await console.out(
        `   ${styled(console, 'yellow', 'not on this machine')}: ${step.unless.install} gets it; the rest goes on\n`,
      );
      continue;
    }
    const problem = differs(step, result, text);
    if (problem === undefined) {
      asRecorded += 1;
      if (step.blocked !== undefined) blocked.push(step.blocked);
    }
    await console.out(
      problem === undefined
        ? `   ${styled(console, 'green', '✓')} ${outcomeOf(step)}\n`
        : `   ${styled(console, 'red', 'NOT as recorded')}: ${printable(problem)}\n`,
    );
  }
  return {asRecorded, lacking, blocked, total: steps.length};
}

/** Shows what a person would see, and answers as the approver did. */
function recordedApprover({answer}: SceneStep, console: Console): Approver {
  return {
    ask: async question => {
      await console.out(indented(renderQuestion(question, {...console, columns: console.columns - 3})));
      const given: ApprovalAnswer = answer?.(question) ?? {answer: 'refuse', reason: 'nobody was asked then'};
      const words = wordsOf(given);
      await console.out(`   ${styled(console, 'yellow', `Answer: ${words}`)}\n`);
      return given;
    },
  };
}

function wordsOf(given: ApprovalAnswer): string {
  switch (given.answer) {
    case 'once':
      return 'yes, this once';
    case 'refuse':
      return `no, ${given.reason ?? ''}`;
    case 'session-rule':
      return 'yes, and calls like it for the session';
    default:
      return given.answer;
  }
}

function differs(
  {expects, exitCode, says, hides}: SceneStep,
  result: ToolResult,
  text: string,
): string | undefined {
  const came = result.error?.code ?? 'success';
  if (came !== expects) return `expected ${expects}, got ${came}`;
  if (exitCode !== undefined && result.exit_code !== exitCode) {
    return `expected exit code ${exitCode}, got ${result.exit_code}`;
  }
  if (says !== undefined && !says.test(text)) return `expected ${says} in the answer`;
  return hides?.test(text) ? `expected no ${hides} in the answer` : undefined;
}

function outcomeOf({expects, exitCode}: SceneStep): string {
  return exitCode === undefined ? expects : `exit code ${exitCode}`;
}

/** `web_fetch` answers an agent with JSON; a person reads the Markdown of its chunks, and of a failure what it says. */
function readable(text: string, {error}: ToolResult): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  if (!text.startsWith('{')) return text;
  const response: unknown = JSON.parse(text);
  if (typeof response !== 'object' || response === null || !('chunks' in response)) return text;
  const {chunks} = response as {
    readonly chunks: readonly {readonly text: string; readonly token_count: number}[];
  };
  return chunks.map(chunk => `[${chunk.token_count} tokens]\n${chunk.text}`).join('\n');
}

function indented(text: string): string {
  const lines = printable(text).trimEnd().split('\n');
  const more = lines.length - MOST_LINES;
  const shown = more > 1 ? [...lines.slice(0, MOST_LINES), `… ${more} more lines`] : lines;
  return shown.map(line => `${line === '' ? '' : `   ${line}`}\n`).join('');
}

/** One recorded call of the agent, and what came of it when it was recorded. */
interface SceneStep {
  readonly title: string;
  readonly tool: string;
  readonly params: {readonly [name: string]: Json};
  readonly expects: 'success' | FailureCode;
  /** Of `run`: how the command ended. */
  readonly exitCode?: number;
  /** What is in the answer, and what is not. */
  readonly says?: RegExp;
  readonly hides?: RegExp;
  /** What the person at the keyboard answered when it was recorded. */
  readonly answer?: (question: ApprovalQuestion) => ApprovalAnswer;
  /** Of what must not work: what was kept from happening. */
  readonly blocked?: string;
  /** A failure that only says that this machine lacks a part, and the line that installs it. */
  readonly unless?: {readonly code: FailureCode; readonly install: string};
}

const NO_BROWSER = {code: 'browser_unavailable', install: 'apt-get install chromium'} as const;
const NO_SANDBOX = {code: 'sandbox_error', install: 'apt-get install bubblewrap'} as const;

const once = (): ApprovalAnswer => ({answer: 'once'});

const byRule = ({suggestedRule: rule}: ApprovalQuestion): ApprovalAnswer =>
  rule === undefined ? {answer: 'once'} : {answer: 'session-rule', rule};

const FIRST_FIX = `--- a/slug.sh
+++ b/slug.sh
@@ -1,3 +1,3 @@
 #!/bin/sh
 # sh slug.sh TITLE: the title as the last part of an address.
-printf '%s\\n' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9]/-/g'
+printf '%s\\n' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9]/-/g; s/^-//; s/-$//'
--- a/CHANGES.md
+++ b/CHANGES.md
@@ -1,3 +1,7 @@
 # Changes
 
+## 1.2
+
+- Addresses have no doubled dashes, and none at either end.
+
 ## 1.1
`;

const SECOND_FIX = FIRST_FIX.replaceAll('[^a-z0-9]/', '[^a-z0-9][^a-z0-9]*/');

/** A bug is reported, understood, fixed and tested; what must not work does not. */
export function bugHunt(origin: string): readonly SceneStep[] {
  const {port} = new URL(origin);
  return [
    {
      title: 'Read the bug report. You allow this host for the session',
      tool: 'web_fetch',
      params: {url: `${origin}/issue-17.html`},
      expects: 'success',
      says: /bees--wind---water/,
      hides: /Ignore all previous|Imprint|analytics/,
      answer: byRule,
    },
    {
      title: 'Read the discussion, which only a browser can show. The browser has no network of its own',
      tool: 'web_fetch',
      params: {url: `${origin}/discussion.html`, force_browser: true},
      expects: 'success',
      says: /should become one dash/,
      unless: NO_BROWSER,
    },
    {
      title: 'Find the code',
      tool: 'search',
      params: {query: 'a-z0-9'},
      expects: 'success',
      says: /slug\.sh/,
    },
    {title: 'Read it', tool: 'read_file', params: {path: 'slug.sh'}, expects: 'success', says: /printf/},
    {
      title: 'Run the tests in the sandbox: two of three fail',
      tool: 'run',
      params: {command: 'sh test.sh'},
      expects: 'success',
      exitCode: 1,
      says: /not ok {2}Notes/,
      answer: byRule,
      unless: NO_SANDBOX,
    },
    {
      title: 'Try to leave the project',
      tool: 'read_file',
      params: {path: '../../../etc/passwd'},
      expects: 'path_escape',
      blocked: 'a read of /etc/passwd, out of the project',
    },
    {
      title: 'Open an attachment, which redirects into the private network',
      tool: 'web_fetch',
      params: {url: `${origin}/attachment`},
      expects: 'ssrf_blocked',
      blocked: 'a redirect into the private network, to 10.0.0.5',
    },
    {
      title: 'Ask the metadata service of a cloud, in another spelling of its address',
      tool: 'web_fetch',
      params: {url: `http://[::ffff:169.254.169.254]:${port}/latest/meta-data/`},
      expects: 'ssrf_blocked',
      blocked: 'the metadata service of a cloud, though somebody had allowed it',
      answer: once,
    },
    {
      title: 'Fetch what robots.txt keeps to itself',
      tool: 'web_fetch',
      params: {url: `${origin}/drafts/plan.html?token=secret`},
      expects: 'robots_disallowed',
      blocked: 'a page that robots.txt keeps to itself',
    },
    {
      title: 'Ask for something that should never be allowed',
      tool: 'run',
      params: {command: 'rm -rf ./*'},
      expects: 'approval_denied',
      blocked: 'rm -rf, as you were asked first and said no',
      answer: () => ({answer: 'refuse', reason: 'fix the bug instead'}),
    },
    {
      title: 'Apply a first patch. It is allowed as it was shown, to two files or to none',
      tool: 'apply_patch',
      params: {unified_diff: FIRST_FIX},
      expects: 'success',
      answer: once,
    },
    {
      title: 'Apply a second one, made from memory: it does not fit any more, and nothing is changed',
      tool: 'apply_patch',
      params: {unified_diff: SECOND_FIX},
      expects: 'patch_hunk_fail',
    },
    {
      title: 'Make the small edit that was missing',
      tool: 'str_replace',
      params: {path: 'slug.sh', old_string: '[^a-z0-9]/', new_string: '[^a-z0-9][^a-z0-9]*/'},
      expects: 'success',
      says: /line 3 · \+1 −1/,
      answer: once,
    },
    {
      title: 'Run the tests again. The earlier rule allows it, so there is no question',
      tool: 'run',
      params: {command: 'sh test.sh'},
      expects: 'success',
      exitCode: 0,
      says: /^ok {6}Notes/m,
      unless: NO_SANDBOX,
    },
  ];
}

export interface ScratchProject {
  /** Holds everything that the demo leaves; the person who looked at it removes it. */
  readonly directory: string;
  readonly workspace: string;
  readonly runDirectory: string;
  readonly stateDirectory: string;
  readonly report: string;
}

/** A small project with a failing test, in a directory of its own. */
export async function createScratchProject(tempDir: string): Promise<ScratchProject> {
  const directory = await mkdtemp(join(tempDir, 'forge-demo-'));
  const workspace = join(directory, 'project');
  await cp(packageFile('demo/project'), workspace, {recursive: true});
  return {
    directory,
    workspace,
    runDirectory: join(directory, 'run'),
    stateDirectory: join(directory, 'state'),
    report: join(directory, 'report.html'),
  };
}
