// What a tool is: its definition, its plan of a call, its context and its answer.
import {BUILT_SCHEMAS} from './built-schemas.ts';
import type {Deadline} from './deadline.ts';
import type {FailureCode} from './failure-codes.ts';
import type {Log} from './log.ts';
import type {Failure, Json, Result} from './result.ts';

/** Ruling H4: what approvals are asked for. A tool without one only reads. */
export type ApprovalAction = 'patch_file' | 'write_file' | 'run' | 'web_fetch' | 'egress';

/** One thing that is wrong with the parameters of a call. */
export interface ParameterProblem {
  /** Dotted path of the parameter, `params` for all of them. */
  readonly field: string;
  readonly kind: 'unknown' | 'missing' | 'invalid';
  /** Continues a sentence that begins with the name: `must be a whole number, got "ten"`. */
  readonly reason: string;
}

export interface SchemaProblem {
  /** Dotted path of the first wrong parameter. */
  readonly field: string;
  readonly reason: string;
  /** Every problem, for `details.validation`. */
  readonly all: string;
  /** The same, one by one. At least one. */
  readonly problems: readonly ParameterProblem[];
}

/** Validation, JSON Schema and type of one value, from one definition. */
export interface Schema<Value> {
  readonly jsonSchema: {readonly [keyword: string]: Json};
  /** Whether it follows settings, so that the one that the build worked out may be another. Default: false. */
  readonly followsSettings?: boolean;
  readonly parse: (input: unknown) => Result<Value, SchemaProblem>;
}

/** The four hints of MCP, all of them always set. */
export interface ToolAnnotations {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

/** What rules on arguments are matched with. */
export interface ApprovalSubject {
  readonly kind: 'url' | 'path' | 'command';
  readonly values: readonly string[];
  /** The call brings more than its values say (variables of a command): only a grant of this exact call covers it. */
  readonly exactOnly?: boolean;
}

/** What policy can check before any work is done for a call; nothing is read for it. */
export interface CallOutline {
  /** Absent where it takes work to know. */
  readonly subject?: ApprovalSubject;
  readonly dryRun?: boolean;
}

/** Whether the rules on hosts let a call go on to a host that it was led to. */
export type HostDecision = {readonly allowed: true} | {readonly allowed: false; readonly reason: string};

/** What a call would do, worked out without doing it. */
export interface Intent {
  readonly subject: ApprovalSubject;
  /** One line, redacted: `web_fetch https://example.com/path (http mode)`. */
  readonly summary: string;
  /** The diff, the command or the address, for the one who is asked. */
  readonly preview: string;
  /** Content hashes of what would change; an approval is bound to them. */
  readonly fileHashes: {readonly [path: string]: string};
  /** The call shows what it would do and does nothing: it needs no more leave than a tool that reads. */
  readonly dryRun?: boolean;
}

/** What a call that runs comes to want beside what was approved. */
export interface LaterQuestion {
  /** What rules name it by. */
  readonly action: ApprovalAction;
  readonly subject: ApprovalSubject;
  /** One line. */
  readonly summary: string;
  /** What an operator can set so that it is not asked: `add "a.example" to tools.run.egress.allow`. */
  readonly toAllow: string;
}

/** A file of the run directory that is written while the call runs. It is there from its first byte on. */
export interface ArtifactStream {
  /** Appends, on the disk and not in memory. What cannot be written shows in `finish`. */
  readonly write: (chunk: Uint8Array) => void;
  /** Closes it. The value is its path, or `undefined` where nothing was written. To be called once. */
  readonly finish: () => Result<string | undefined>;
}

/** A file that a call of the run has left. To be closed. */
export interface OpenArtifact {
  readonly bytes: number;
  /** From its beginning, or from a byte of it on. */
  readonly blocks: (from?: number) => AsyncGenerator<Uint8Array>;
  readonly close: () => Promise<void>;
}

/** What the calls of a run have left below its directory, also those of an earlier process. */
export interface ArtifactStore {
  /** Names of the files of a folder; none where there is no such folder. */
  readonly list: (folder: string) => Promise<Result<readonly string[]>>;
  /** `undefined` where there is no such file. */
  readonly open: (path: string) => Promise<Result<OpenArtifact | undefined>>;
  /** Empties the oldest files of a folder, by the numbers in their names, until all have at most `maxBytes` together; none that still grows. */
  readonly trim: (folder: string, maxBytes: number) => Promise<Result<void>>;
}

/** What an intent is worked out with: nothing is reached, saved or said for it. */
export interface PlanContext {
  /** How long the call has, and what it says when time is up. */
  readonly deadline: Deadline;
  /** What this run changed so far, from its verified log. */
  readonly pastChanges: () => Promise<Result<PastChanges>>;
}

/** What a tool runs with. One per call. */
export interface ToolContext extends PlanContext {
  readonly requestId: string;
  /** The number of the call in its session (`NNNN` of artifacts). */
  readonly step: number;
  /** Fires at the deadline and when the caller cancels. */
  readonly signal: AbortSignal;
  /** W21: fires when the session is closed or its client stopped. It ends what a call leaves running. */
  readonly sessionSignal: AbortSignal;
  /** Whether a call of the same client had that number: only such a step may be meant where none is named. */
  readonly isOwnStep: (step: number) => boolean;
  /** Review R11: to be asked at every hop of a fetch, for what a page loads too. */
  readonly mayReach: (host: string) => HostDecision;
  /** T1: says that from now on what the call reads, writes or gives may be text of a stranger at that host. */
  readonly metStranger: (host: string) => void;
  /** Asks about something that the call comes to want while it runs; absent where nobody decides (ruling X1). */
  readonly approve?: (question: LaterQuestion, signal: AbortSignal) => Promise<Result<undefined>>;
  readonly maxOutputBytes: number;
  readonly availableCapacityBytes: number;
  /** FR-WF-03a: a tool whose answer fits by itself sets this to false. */
  allowTruncation: boolean;
  readonly log: Log;
  /**
   * Appends an event of the tool's own (`PATCH_APPLIED`) to the run's log. One that comes when the call has ended
   * names the artifacts that were saved since.
   */
  readonly emit: (event: string, payload: {readonly [field: string]: Json}) => Promise<void>;
  /** Writes an artifact below the run directory and returns its path relative to that. */
  readonly saveArtifact: (path: string, content: Uint8Array | string) => Promise<Result<string>>;
  /** The same for what is too long for memory; more than `maxBytes` is not kept. */
  readonly streamArtifact: (path: string, maxBytes: number) => ArtifactStream;
  readonly artifacts: ArtifactStore;
  /** Says how far the call is; an interface passes it on. */
  readonly progress: (message: string) => void;
  /** Hears what a command writes, where the caller wants to. */
  readonly output?: ((stream: 'stdout' | 'stderr', bytes: Uint8Array) => void) | undefined;
}

/** One tool: JSON Schema, validation, types, help, MCP listing and docs are made from this. */
export interface ToolDefinition<Params, Data> {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses the tool. */
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly params: Schema<Params>;
  readonly data: Schema<Data>;
  /** FR-ERR-JSON-02: `web_fetch` answers `bad_args`, the workspace tools `invalid_params`. */
  readonly badParams: 'bad_args' | 'invalid_params';
  readonly action: ApprovalAction | undefined;
  /**
   * T1: who may have written what an answer puts in front of the model: `untrusted` anybody on the web, `private` those
   * whose files and commands these are. Default: `private`.
   */
  readonly delivers?: 'untrusted' | 'private';
  /** W12: bytes of an answer where the operator wrote no limit. Default: that of all tools. */
  readonly maxOutputBytes?: number | undefined;
  /** The limit of the whole call; longer than every budget of its own inside the tool. (FR-WF-TIMEOUT-01) */
  readonly timeoutMs: (params: Params) => number;
  /**
   * Ruling W19: how long its answer is waited for after its signal has fired, because it takes back first what it
   * had half done. Default: two seconds.
   */
  readonly finishMs?: number;
  /** Default: nothing is known before `intend`. */
  readonly outline?: (params: Params) => CallOutline;
  /** Side-effect free. Called before an approval is asked for, and its hashes are compared before `execute`. */
  readonly intend: (params: Params, context: PlanContext) => Promise<Result<Intent>>;
  readonly execute: (params: Params, context: ToolContext) => Promise<Result<Data>>;
  /** Ruling H2: the answer as text that is enough by itself for a model to go on. */
  readonly renderText: (data: Data) => string;
  /** Further fields of the `ToolResult` (`exit_code`, `stdout_path`, `stderr_path`). */
  readonly resultFields?: (
    data: Data,
  ) => Partial<Pick<ToolResult, 'exit_code' | 'stdout_path' | 'stderr_path'>>;
}

/** A definition whose parameter and data types are closed over, as the registry holds it. */
export interface Tool
  extends Omit<
    ToolDefinition<never, never>,
    'params' | 'data' | 'timeoutMs' | 'outline' | 'intend' | 'execute' | 'renderText' | 'resultFields'
  > {
  readonly paramsSchema: {readonly [keyword: string]: Json};
  readonly dataSchema: {readonly [keyword: string]: Json};
  /** Validates; a value is a call that can be run. */
  readonly prepare: (params: unknown) => Result<PreparedCall, SchemaProblem>;
  readonly renderText: (data: Json) => string;
}

/** A validated call of one tool. */
export interface PreparedCall {
  readonly timeoutMs: number;
  readonly outline: CallOutline;
  readonly intend: (context: PlanContext) => Promise<Result<Intent>>;
  readonly execute: (context: ToolContext) => Promise<Result<ToolAnswer>>;
}

export interface ToolAnswer {
  readonly data: Json;
  readonly fields: Partial<Pick<ToolResult, 'exit_code' | 'stdout_path' | 'stderr_path'>>;
}

/** A call of a tool, by its name. */
export interface ToolRequest {
  /** Name of the tool, such as `read_file`. */
  readonly tool: string;
  /** Its parameters, as its schema has them. */
  readonly params: {readonly [name: string]: Json};
  /** Chosen by the caller; the result and the events carry it. Default: a new one. */
  readonly request_id?: string | undefined;
}

/** What a call of a tool answers. Every field is present; times are RFC 3339 in UTC, durations are seconds. */
export interface ToolResult<Data = Json> {
  /** That of the request. */
  readonly request_id: string;
  /** Name of the tool that was called. */
  readonly tool: string;
  /** `error` exactly where `error` is not null. */
  readonly status: 'success' | 'error';
  /** RFC 3339, UTC. */
  readonly started_at: string;
  /** RFC 3339, UTC. */
  readonly ended_at: string;
  /** Seconds from start to end. */
  readonly duration_sec: number;
  /** The answer of the tool; null where it failed. */
  readonly data: Data | null;
  /** Why it failed, with its code as `error_type` too; null where it succeeded. */
  readonly error: (Failure & {readonly error_type: FailureCode}) | null;
  /** Of a command that ran to its end; null otherwise. */
  readonly exit_code: number | null;
  /** Where the whole output is kept, relative to the run directory; null where there is none. */
  readonly stdout_path: string | null;
  /** The same for the error output. */
  readonly stderr_path: string | null;
}

/** The failure as the `error` of a `ToolResult`. (H1) */
export function toolError(failure: Failure): NonNullable<ToolResult['error']> {
  return {error_type: failure.code, ...failure};
}

/** The failure as `web_fetch` serialises it. (FR-ERR-JSON-01) */
export function bareFailure({error_type: _, ...failure}: NonNullable<ToolResult['error']>): Failure {
  return failure;
}

function builtSchema<Value>(schema: Schema<Value>, tool: string, part: 'params' | 'data') {
  const built = schema.followsSettings ? undefined : BUILT_SCHEMAS[tool]?.[part];
  return built ?? schema.jsonSchema;
}

/** Closes over the types of a definition: what goes in is validated, what comes out is JSON. */
export function defineTool<Params, Data extends Json>(definition: ToolDefinition<Params, Data>): Tool {
  const {params, data, timeoutMs, outline, intend, execute, renderText, resultFields, ...rest} = definition;
  return {
    ...rest,
    get paramsSchema() {
      return builtSchema(params, definition.name, 'params');
    },
    get dataSchema() {
      return builtSchema(data, definition.name, 'data');
    },
    renderText: answer => renderText(answer as Data),
    prepare: input => {
      const parsed = params.parse(input);
      if (!parsed.ok) return parsed;
      const {value} = parsed;
      return {
        ok: true,
        value: {
          timeoutMs: timeoutMs(value),
          outline: outline?.(value) ?? {},
          intend: context => intend(value, context),
          execute: async context => {
            const answer = await execute(value, context);
            if (!answer.ok) return answer;
            return {ok: true, value: {data: answer.value, fields: resultFields?.(answer.value) ?? {}}};
          },
        },
      };
    },
  };
}

/** A step of this run that changed files, as its log has it. */
export interface PastChange {
  readonly step: number;
  readonly files: readonly string[];
  /** SHA-256 of the record that undo works with. */
  readonly recordHash: string;
  /** The step that it took back. */
  readonly undoes: number | undefined;
}

export interface PastChanges {
  /** The run directory. */
  readonly directory: string;
  /** Oldest first. */
  readonly changes: readonly PastChange[];
}

/** Where the workspace is for a command in Docker and bubblewrap, and so what its output calls it. */
export const WORKSPACE_MOUNT = '/workspace';
