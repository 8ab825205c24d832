// The tool run: executes a command in the sandbox.
import {z} from 'zod';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {takeEnd, takeStart} from '../../core/text/cut.ts';
import {type ApprovalSubject, defineTool, type Tool, type ToolContext} from '../../core/tool.ts';
import type {RunOptions} from '../../sandbox/options.ts';
import type {ExitStatus, RunOutcome, Sandbox} from '../../sandbox/sandbox.ts';
import type {Workspace} from '../../workspace/jail/jail.ts';
import {quotePath, type WorkspacePath} from '../../workspace/workspace-path.ts';
import {schemaOf} from '../define-tool.ts';
import type {BackgroundCommands} from './background.ts';
import type {BackgroundCommand} from './background-command.ts';
import {EgressLog} from './egress-log.ts';
import {artifactPath, OutputKeeper, type SavedOutput} from './output-keeper.ts';
import {renderRun} from './render-run.ts';
import {
  type ChangedRepositories,
  changedRepositories,
  describeRepositories,
  type RunData,
  runData,
  sayRepositories,
} from './run-data.ts';

export const RUN = 'run';

/** Longest start of a sandbox: a container of a slow storage driver. Not time of the command. */
const START_MS = 60_000;
/** An argument of a program has at most 128 KiB. */
const MAX_TEXT_BYTES = 100_000;
const MAX_VARIABLES = 100;
const MESSAGE_TAIL_CHARS = 1500;
const MIB = 1_048_576;

const text = z
  .string()
  .refine(value => !value.includes('\0'), 'must not contain NUL')
  .refine(value => Buffer.byteLength(value) <= MAX_TEXT_BYTES, `must have at most ${MAX_TEXT_BYTES} bytes`);

/** Tool API: a command in the sandbox. */
export function runTool(
  sandbox: Sandbox,
  options: RunOptions,
  workspace?: CommandPlaces,
  background?: BackgroundCommands,
): Tool {
  const {timeout_seconds, max_timeout_seconds} = options;
  const params = z.strictObject({
    command: text
      .refine(command => command.trim() !== '', 'must not be empty or blank')
      .describe('For sh -c, in the root of the workspace, without input.'),
    timeout_sec: z.int().min(1).max(max_timeout_seconds).optional().describe(`Default: ${timeout_seconds}.`),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable'), text)
      .refine(env => Object.keys(env).length <= MAX_VARIABLES, `must have at most ${MAX_VARIABLES} entries`)
      .refine(
        env => Buffer.byteLength(Object.entries(env).join()) <= MAX_TEXT_BYTES,
        `must have at most ${MAX_TEXT_BYTES} bytes together`,
      )
      .optional()
      .describe('Variables to add.'),
    cwd: z.string().min(1).optional().describe('Directory instead of the root.'),
    ...(background === undefined
      ? {}
      : {
          background: z
            .boolean()
            .optional()
            .describe('Answer at once; then read_output, wait_for, stop_run.'),
        }),
  });
  /** Before anything is looked at, so that a denial comes first. */
  const directoryOf = ({cwd}: z.output<typeof params>): string | undefined => {
    const resolved = cwd === undefined ? undefined : workspace?.resolve(cwd);
    return resolved?.ok === true && resolved.value !== '.' ? resolved.value : undefined;
  };
  const limitOf = ({timeout_sec = timeout_seconds}: z.output<typeof params>): number => timeout_sec * 1000;

  /** Ruling W21. */
  const startInBackground = async (
    {command, env = {}, timeout_sec}: z.output<typeof params>,
    directory: string | undefined,
    context: ToolContext,
  ): Promise<Result<RunData>> => {
    if (background === undefined) {
      const reason = 'there is nothing here that would end it';
      return fail('invalid_params', `"background" cannot be used: ${reason}. Leave it out.`, {
        field: 'background',
        reason,
      });
    }
    const longest = options.background.max_life_seconds;
    const lifeMs = Math.min(timeout_sec ?? longest, longest) * 1000;
    const started = await background.start({command, env, directory, lifeMs}, context);
    if (!started.ok) return started;
    return ok(startedData(started.value, lifeMs));
  };

  return defineTool<z.output<typeof params>, RunData>({
    name: RUN,
    title: 'Run a command',
    description:
      'Runs a shell command in a sandbox without network; gives exit code, head and tail of the output. All it starts ends with it; with background, at the end of the session.',
    annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: false},
    params: schemaOf(params as z.ZodType<z.output<typeof params>>, {followsSettings: true}),
    data: schemaOf(runData),
    badParams: 'invalid_params',
    action: 'run',
    timeoutMs: request => limitOf(request) + START_MS,
    outline: request => ({subject: subjectOf(request, directoryOf(request))}),
    intend: async request => {
      const {command, env = {}} = request;
      const place = commandDirectory(request.cwd, workspace);
      if (!place.ok) return place;
      const directory = place.value;
      const assignments = Object.entries(env).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      const [firstLine = ''] = command.trim().split('\n');
      return ok({
        subject: subjectOf(request, directory),
        summary: `run ${request.background === true ? 'in the background ' : ''}${takeStart(firstLine, 200)}${firstLine === command.trim() && firstLine.length <= 200 ? '' : ' ...'}${directory === undefined ? '' : ` (in ${quotePath(directory)})`}`,
        preview: [
          ...(request.background === true ? ['in the background:'] : []),
          ...(directory === undefined ? [] : [`in ${quotePath(directory)}:`]),
          ...assignments,
          command,
        ].join('\n'),
        fileHashes: {},
      });
    },
    execute: async (request, context) => {
      const {command, env = {}} = request;
      const place = commandDirectory(request.cwd, workspace);
      if (!place.ok) return place;
      const directory = place.value;
      if (request.background === true) return startInBackground(request, directory, context);
      const wrote = context.output;
      const keeper = new OutputKeeper(context, options.kept_output_mb * MIB, wrote && {wrote});
      const {spill} = keeper;
      const egress = new EgressLog(context);
      const ran = await sandbox
        .run({command, env, directory, spill, egress, timeoutMs: limitOf(request), signal: context.signal})
        .finally(() => keeper.close());
      if (!ran.ok) return ran;
      const saved = await keeper.save(ran.value);
      if (!saved.ok) return ranUnsaved(saved.error, ran.value.exitStatus);
      await sayRepositories(ran.value, context);
      const notes = runNotes(ran.value, saved.value, options, egress);
      return answerTo(ran.value, saved.value, {timeoutMs: limitOf(request), notes});
    },
    resultFields: ({exit_code, stdout_path, stderr_path, background: runsOn}) =>
      runsOn === undefined ? {exit_code, stdout_path, stderr_path} : {},
    renderText: renderRun,
  });
}

/**
 * What rules are matched with. Review R10: a variable (`PATH`, `NODE_OPTIONS`, `HOME`) makes another command of the
 * same words. So does a directory, which is matched as the `cd` that it is.
 */
function subjectOf(
  {command, env = {}}: {command: string; env?: object | undefined},
  directory: string | undefined,
): ApprovalSubject {
  const exactOnly = Object.keys(env).length > 0;
  const value = directory === undefined ? command : `cd ${shellWord(directory)} && ${command}`;
  return {kind: 'command', values: [value], ...(exactOnly ? {exactOnly} : {})};
}

/** What is known when the call is answered. Its output comes later. */
function startedData({step, started}: BackgroundCommand, lifeMs: number): RunData {
  return {
    exit_code: null,
    stdout: '',
    stderr: '',
    stdout_truncated: false,
    stderr_truncated: false,
    stdout_bytes: 0,
    stderr_bytes: 0,
    stdout_path: artifactPath(step, 'stdout'),
    stderr_path: artifactPath(step, 'stderr'),
    duration_sec: 0,
    sandbox: started?.sandbox ?? 'none',
    left_running: [],
    background: {step, max_life_sec: lifeMs / 1000},
  };
}

function shellWord(path: string): string {
  const named = path.startsWith('-') ? `./${path}` : path;
  return /^[\w./-]+$/.test(named) ? named : `'${named.replaceAll("'", "'\\''")}'`;
}

/** A command that has run must not be run again because its output could not be kept. */
function ranUnsaved(error: Failure, status: ExitStatus): Err<Failure> {
  const how = status.kind === 'exited' ? ` (exit code ${status.code})` : '';
  return {
    ok: false,
    error: {...error, message: `The command has run${how}, so do not repeat it. ${error.message}`},
  };
}

/** Ruling W8: an exit code is an answer; a death by signal, out of memory or out of time is a failure. */
function answerTo(
  execution: RunOutcome,
  saved: SavedOutput,
  {timeoutMs, notes}: {readonly timeoutMs: number; readonly notes: readonly string[]},
): Result<RunData> {
  const {exitStatus, sandbox, stdout, stderr, durationMs, leftRunning} = execution;
  const changed = changedRepositories(execution);
  const duration_sec = Math.round(durationMs) / 1000;
  switch (exitStatus.kind) {
    case 'exited':
      return ok({
        exit_code: exitStatus.code,
        stdout: saved.stdout.text,
        stderr: saved.stderr.text,
        stdout_truncated: saved.stdout.truncated,
        stderr_truncated: saved.stderr.truncated,
        stdout_bytes: stdout.totalBytes,
        stderr_bytes: stderr.totalBytes,
        stdout_path: saved.stdoutPath,
        stderr_path: saved.stderrPath,
        duration_sec,
        sandbox,
        left_running: leftRunning,
        ...changed,
        ...(notes.length > 0 && {note: notes.join(' ')}),
      });
    case 'killed': {
      const reason = exitStatus.outOfMemory ? 'out_of_memory' : 'signal';
      const what = exitStatus.outOfMemory
        ? 'ran out of memory (tools.run.memory_mb); give it less to do at a time'
        : `was killed by ${exitStatus.signal}; look at its output`;
      return fail(
        'abnormal_exit',
        `The command ${what}. It ran for ${duration_sec} s in sandbox ${sandbox}. ${outputSoFar(saved, changed)}`,
        {
          signal: exitStatus.signal,
          reason,
          exit_code: exitStatus.code,
          ...partialOf(saved, sandbox, changed),
        },
      );
    }
    case 'timeout':
      return timedOut(saved, {timeoutMs, sandbox, notes, changed});
    case 'cancelled':
      return fail(
        'cancelled',
        `The command was killed because the call was cancelled. ${outputSoFar(saved, changed)}`,
      );
  }
}

function timedOut(
  saved: SavedOutput,
  {
    timeoutMs,
    sandbox,
    notes,
    changed,
  }: {
    readonly timeoutMs: number;
    readonly sandbox: string;
    readonly notes: readonly string[];
    readonly changed: ChangedRepositories;
  },
): Err<Failure> {
  return fail(
    'timeout',
    `The command did not end within ${timeoutMs / 1000} s and was killed with all that it started. Give it less to do, or a larger timeout_sec. ${[...notes, outputSoFar(saved, changed)].join(' ')}`,
    {timeout_ms: timeoutMs, ...partialOf(saved, sandbox, changed)},
  );
}

/** Ruling W8: the output so far is kept whatever ended the command. */
function partialOf(saved: SavedOutput, sandbox: string, changed: ChangedRepositories) {
  return {
    partial: {
      stdout: saved.stdout.text,
      stderr: saved.stderr.text,
      stdout_path: saved.stdoutPath,
      stderr_path: saved.stderrPath,
      sandbox,
      ...changed,
    },
  };
}

function outputSoFar({stdout, stderr, howToRead}: SavedOutput, changed: ChangedRepositories): string {
  const also = describeRepositories(changed)
    .map(line => `\n${line}`)
    .join('');
  const tails = [
    {name: 'stdout', text: stdout.text},
    {name: 'stderr', text: stderr.text},
  ]
    .filter(({text: output}) => output.trim() !== '')
    .map(({name, text: output}) => `\nEnd of ${name}:\n${takeEnd(output.trimEnd(), MESSAGE_TAIL_CHARS)}`);
  return `${tails.length === 0 ? 'It wrote nothing.' : `${howToRead} shows its output.`}${also}${tails.join('')}`;
}

/** What git may do here, by the setting. */
const GIT_NOTES: Readonly<Record<RunOptions['git'], string>> = {
  'read-only':
    'Commands may read .git and not change it (tools.run.git = "read-only"). The user commits, or sets it to "commit".',
  commit:
    'Commands may commit and not change what git executes or is configured by (tools.run.git = "commit"). The user does that.',
};

/** Ruling W11: git's own words name a file and no setting. */
function isGitRefused({stderr}: SavedOutput): boolean {
  return /\.git\b[^\n]*Read-only file system|Read-only file system[^\n]*\.git\b/.test(stderr.text);
}

/** Why something failed that the sandbox or a setting does not allow. */
function runNotes(
  {sandbox}: RunOutcome,
  saved: SavedOutput,
  {git, egress: {allow, presets}}: RunOptions,
  egress: EgressLog,
): readonly string[] {
  const connections = egress.note();
  const isClosed = allow.length === 0 && presets.length === 0;
  return [
    ...(isGitRefused(saved) ? [GIT_NOTES[git]] : []),
    ...(connections === undefined ? [] : [connections]),
    ...(sandbox !== 'none' && lacksNetwork(saved.stderr.text) ? [isClosed ? NO_NETWORK : ONLY_BY_PROXY] : []),
  ];
}

const NO_NETWORK = '[commands have no network]';

/** Where there is a way out, and a program did not take it. */
const ONLY_BY_PROXY = '[commands reach hosts by the proxy in HTTPS_PROXY only]';

/** What resolvers, Node, git, curl, pip, cargo and Go say of a name that nobody could look up. */
const LOOK_UP_FAILED =
  /Temporary failure in name resolution|Could not resolve (?:host|proxy)|Name or service not known|No address associated with hostname|nodename nor servname|\bEAI_AGAIN\b|\bENOTFOUND\b|getaddrinfo\b.{0,80}\bfail|failed to lookup address|Temporary failure resolving|\bdial tcp: lookup\b|bad address '/i;

/** Whether a command failed for want of a network: its own words do not say that there is none at all. */
export function lacksNetwork(stderr: string): boolean {
  return LOOK_UP_FAILED.test(stderr);
}

/** Where commands can be run. */
type CommandPlaces = Pick<Workspace, 'resolve' | 'openDirectory'>;

/**
 * W1: the directory that a call names, if it is one below the workspace that no link leads to; `undefined` for the
 * root. A sandbox enters it by name, where a name that somebody swaps leads nowhere but into the sandbox.
 */
function commandDirectory(
  cwd: string | undefined,
  workspace: CommandPlaces | undefined,
): Result<WorkspacePath | undefined> {
  if (cwd === undefined) return ok(undefined);
  if (workspace === undefined) {
    const reason = 'there is no workspace to look it up in';
    return fail('invalid_params', `"cwd" cannot be used: ${reason}. Leave it out.`, {field: 'cwd', reason});
  }
  const resolved = workspace.resolve(cwd);
  if (!resolved.ok) return resolved;
  const opened = workspace.openDirectory(resolved.value);
  if (!opened.ok) return opened;
  opened.value.close();
  return ok(resolved.value === '.' ? undefined : resolved.value);
}
