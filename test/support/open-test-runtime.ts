import {createHash} from 'node:crypto';
import {mkdtemp, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {z} from 'zod';
import {type Clock, systemClock} from '../../src/core/clock.ts';
import type {LogEvent} from '../../src/core/log.ts';
import {fail, type Json, ok} from '../../src/core/result.ts';
import {defineTool, type Tool, type ToolContext, type ToolResult} from '../../src/core/tool.ts';
import type {ApprovalRule, CallOptions} from '../../src/core/tool-host.ts';
import type {ApprovalOptions, RuleFields} from '../../src/runtime/approvals/options.ts';
import {createConfirmationPolicy} from '../../src/runtime/approvals/policy.ts';
import {executeCall} from '../../src/runtime/execute-call.ts';
import {createRegistry, type RegistryOptions} from '../../src/runtime/registry.ts';
import type {Runtime} from '../../src/runtime/runtime.ts';
import {openSession} from '../../src/runtime/session.ts';
import {TAINT_OFF, type TaintOptions} from '../../src/runtime/taint/options.ts';
import {schemaOf} from '../../src/tools/define-tool.ts';

export async function tempDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'forge-runtime-')));
  onTestFinished(() => rm(path, {recursive: true, force: true}));
  return path;
}

/** A rule about every tool that allows, where it does not say otherwise. */
export function ruleOf(rule: Partial<RuleFields>): ApprovalRule {
  return {tool: '*', decision: 'allow', ...rule} as ApprovalRule;
}

export function approvalOptions(options: Partial<ApprovalOptions> = {}): ApprovalOptions {
  return {mode: 'prompt', allowlist: [], denylist: [], rules: [], ...options};
}

const READS = {readOnly: true, destructive: false, idempotent: true, openWorld: false};
const WRITES = {...READS, readOnly: false, destructive: true};

/** Gives back what it was given. Only reads. */
export const echoTool = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'Gives the text back.',
  annotations: READS,
  params: schemaOf(z.strictObject({text: z.string(), count: z.int().min(1).max(5000).default(1)})),
  data: schemaOf(z.object({texts: z.array(z.string()), truncated: z.boolean()})),
  badParams: 'invalid_params',
  action: undefined,
  timeoutMs: () => 1000,
  intend: async ({text}) =>
    ok({subject: {kind: 'path', values: [text]}, summary: `echo ${text}`, preview: text, fileHashes: {}}),
  execute: async ({text, count}) => ok({texts: Array.from({length: count}, () => text), truncated: false}),
  renderText: ({texts}) => texts.join('\n'),
});

/** Writes a file of `directory`. */
export function writeNoteTool(directory: string): Tool {
  const hashOf = async (path: string): Promise<string> =>
    createHash('sha256')
      .update(await readFile(join(directory, path)).catch(() => ''))
      .digest('hex');
  return defineTool({
    name: 'write_note',
    title: 'Write a note',
    description: 'Writes a file.',
    annotations: WRITES,
    params: schemaOf(z.strictObject({path: z.string(), text: z.string()})),
    data: schemaOf(z.strictObject({bytes: z.int()})),
    badParams: 'invalid_params',
    action: 'write_file',
    timeoutMs: () => 1000,
    intend: async ({path, text}) =>
      ok({
        subject: {kind: 'path', values: [path]},
        summary: `write_note ${path}`,
        preview: `+ ${text}`,
        fileHashes: {[path]: await hashOf(path)},
      }),
    execute: async ({path, text}) => {
      await writeFile(join(directory, path), text);
      return ok({bytes: text.length});
    },
    renderText: ({bytes}) => `${bytes} bytes`,
  });
}

/** A tool that is what its one function does. */
export function toolOf(
  name: string,
  execute: (context: ToolContext) => Promise<Json>,
  overrides: Partial<{
    action: Tool['action'];
    timeoutMs: number;
    badParams: Tool['badParams'];
    subject: {kind: 'url' | 'path' | 'command'; values: readonly string[]};
    delivers: 'untrusted' | 'private';
  }> = {},
): Tool {
  return defineTool<Record<string, unknown>, Json>({
    name,
    title: name,
    description: name,
    annotations: READS,
    params: schemaOf(z.record(z.string(), z.unknown())),
    data: schemaOf(z.any()),
    badParams: overrides.badParams ?? 'invalid_params',
    action: overrides.action,
    ...(overrides.delivers && {delivers: overrides.delivers}),
    timeoutMs: () => overrides.timeoutMs ?? 1000,
    intend: async () =>
      ok({
        subject: overrides.subject ?? {kind: 'path', values: ['.']},
        summary: name,
        preview: name,
        fileHashes: {},
      }),
    execute: async (_, context) => {
      const data = await execute(context);
      return context.signal.aborted && data === null ? fail('cancelled', 'Aborted.') : ok(data);
    },
    renderText: data => JSON.stringify(data),
  });
}

export interface TestRuntime {
  readonly runtime: Runtime;
  readonly directory: string;
  readonly log: LogEvent[];
  readonly call: (
    tool: string,
    params?: {[name: string]: Json},
    options?: CallOptions,
  ) => Promise<ToolResult>;
  readonly events: () => Promise<readonly LoggedEvent[]>;
}

export interface LoggedEvent {
  readonly seq: number;
  readonly time: string;
  readonly event: string;
  readonly payload: {readonly [field: string]: Json};
  readonly hash: string;
}

export async function readEvents(directory: string): Promise<readonly LoggedEvent[]> {
  const text = await readFile(join(directory, 'events.jsonl'), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line));
}

interface TestRuntimeOptions extends Partial<Omit<RegistryOptions, 'tools'>>, Partial<Omit<Runtime, 'log'>> {
  readonly tools?: readonly Tool[];
  readonly approval?: Partial<ApprovalOptions>;
  readonly autoExecution?: ReadonlyMap<string, {readonly setting: string; readonly enabled: boolean}>;
  readonly directory?: string;
  readonly taint?: Partial<TaintOptions>;
}

let calls = 0;

/** A run in a directory of its own, closed with the test. */
export async function openTestRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const clock: Clock = options.clock ?? systemClock;
  const directory = options.directory ?? join(await tempDirectory(), 'run');
  const tools = options.tools ?? [echoTool];
  const session = await openSession({
    directory,
    workspace: undefined,
    clock,
    taint: {...TAINT_OFF, ...options.taint},
  });
  if (!session.ok) throw new Error(session.error.message);
  onTestFinished(async () => {
    await session.value.close();
  });
  const policy = createConfirmationPolicy(approvalOptions(options.approval), {
    knownTools: tools.map(({name}) => name),
    autoExecution: options.autoExecution ?? new Map(),
  });
  if (!policy.ok) throw new Error(policy.error.join('\n'));
  const log: LogEvent[] = [];
  const runtime: Runtime = {
    registry: createRegistry({
      turnModeOn: 'Turn it on.',
      mode: options.mode ?? 'enabled',
      tools,
      switchedOff: options.switchedOff ?? new Map(),
      definitions: options.definitions ?? [],
    }),
    policy: policy.value,
    session: session.value,
    clock,
    log: event => log.push(event),
    maxOutputBytes: options.maxOutputBytes ?? 102_400,
    maxOutputBytesIsDefault: options.maxOutputBytes === undefined,
    approver: options.approver,
    rememberRule: options.rememberRule,
  };
  return {
    runtime,
    directory,
    log,
    call: (tool, params = {}, callOptions = {}) => {
      calls += 1;
      return executeCall({tool, params, request_id: `r${calls}`}, callOptions, runtime);
    },
    events: () => readEvents(directory),
  };
}
