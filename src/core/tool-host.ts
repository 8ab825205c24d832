// The interface that hosts use: list the tools, call one, answer questions about approvals.
import type {Json} from './result.ts';
import type {ApprovalAction, ToolAnnotations, ToolRequest, ToolResult} from './tool.ts';

/** A tool as it is offered to a model. */
export interface ToolListing {
  /** What a call names, such as `read_file`. */
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  /** What a model reads to choose among tools. */
  readonly description: string;
  /** The hints of MCP: whether it only reads, destroys, may be repeated, reaches other hosts. */
  readonly annotations: ToolAnnotations;
  /** JSON Schema 2020-12 of the parameters and of the data. */
  readonly paramsSchema: {readonly [keyword: string]: Json};
  /** JSON Schema 2020-12 of the data of a result. */
  readonly dataSchema: {readonly [keyword: string]: Json};
}

/** A rule about calls. It names a host, a path or the first words of a command. */
export type ApprovalRule = {
  /** Name of a tool or an action; "*" for all. */
  readonly tool: string;
  /** What becomes of a call that the rule covers. */
  readonly decision: 'allow' | 'ask' | 'deny';
  /** Examples that the rule must cover, checked when it is read. */
  readonly match?: readonly string[];
  /** Examples that it must not cover. */
  readonly not_match?: readonly string[];
  /** Shown where the rule decides. */
  readonly reason?: string;
  /** An `allow` holds after untrusted text too. Default: false. */
  readonly tainted?: boolean;
} & (
  | {readonly host: string; readonly path?: never; readonly command_prefix?: never}
  | {readonly path: string; readonly host?: never; readonly command_prefix?: never}
  | {readonly command_prefix: string; readonly host?: never; readonly path?: never}
);

/** What the approver is asked. Summary and preview come from the tool; nothing in them was executed. */
export interface ApprovalQuestion {
  /** The id of the call. */
  readonly requestId: string;
  /** Name of the tool. */
  readonly tool: string;
  /** What approvals call such a call; `undefined` for a tool that only reads. */
  readonly action: ApprovalAction | undefined;
  /** One line, redacted. */
  readonly summary: string;
  /** The diff, the command or the address. */
  readonly preview: string;
  /** Identifies the call: its tool, its arguments, and the content of the files that it would change. */
  readonly hash: string;
  /** Why it is asked: the setting or rule, and its reason. */
  readonly by: string;
  /** The reason of that rule, or an empty text. */
  readonly reason: string;
  /** A narrow rule that covers this call, to be edited; `undefined` where none can. */
  readonly suggestedRule: ApprovalRule | undefined;
  /** Why a rule cannot be the answer: it is no rule, or does not cover this call. `undefined` where it can. */
  readonly ruleProblem: (rule: ApprovalRule) => string | undefined;
  /** Whether `always` is kept beyond the session. */
  readonly canRemember: boolean;
}

/** The line above the preview of a question; `undefined` where the preview says it too, as that of a command does. */
export function headOfQuestion({
  action,
  summary,
  preview,
}: Pick<ApprovalQuestion, 'action' | 'summary' | 'preview'>): string | undefined {
  return action === 'run' || preview.trim() === summary.trim() ? undefined : summary;
}

/** What the approver says to a question. */
export type ApprovalAnswer =
  | {readonly answer: 'once'}
  /** This exact call (tool, arguments, files), until the session ends. */
  | {readonly answer: 'session'}
  /** Whatever the rule covers, until the session ends. One answer makes at most one rule. */
  | {readonly answer: 'session-rule'; readonly rule: ApprovalRule}
  /** The same, and the rule is handed to the host to keep. */
  | {readonly answer: 'always'; readonly rule: ApprovalRule}
  /** The model sees the reason. `unanswered`: no person decided, and the reason says why. */
  | {readonly answer: 'refuse'; readonly reason?: string; readonly unanswered?: true}
  /** Refuses this call and every later one of the same client in the session. */
  | {readonly answer: 'stop'; readonly reason?: string};

/** Answers questions about calls, one of a client at a time. Ask a person, or decide in code. */
export interface Approver {
  /** Resolves with the answer. Stop waiting when `signal` fires; an exception fails the call. */
  readonly ask: (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** Who is asked about this call. Default: the approver of the toolbox. */
  readonly approver?: Approver | undefined;
  /**
   * Who calls, where several share a toolbox: the same object in all calls of one client. Grants for the session, `stop`
   * and the step that a call may leave out belong to one client. Default: all calls are of one client.
   */
  readonly client?: object | undefined;
  /** Called with a sentence about how far the call is. */
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Called with what a command writes, as it writes it. The answer of `run` has the head and the tail of it. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', bytes: Uint8Array) => void) | undefined;
  /** Lowers the limit of the configuration, never raises it. */
  readonly maxOutputBytes?: number | undefined;
  /** Bytes that the caller has room for; a longer answer is cut to fit. */
  readonly availableCapacityBytes?: number | undefined;
  /**
   * Addresses that the operator or the user named, such as those of the user's message: `tools.taint` takes them
   * for theirs from now on. Nothing that a model wrote belongs here.
   */
  readonly operatorAddresses?: readonly string[] | undefined;
}

/** Lists tools, calls them, and shows their answers as text. */
export interface ToolHost {
  /** The tools that are offered, in a fixed order. */
  readonly listTools: () => readonly ToolListing[];
  /** Never rejects; an unknown tool, wrong parameters and bugs are error results. */
  readonly call: (request: ToolRequest, options?: CallOptions) => Promise<ToolResult>;
  /** The result as text for a model. */
  readonly renderText: (result: ToolResult) => string;
}
