import type {Json} from './json.ts';
import type {ApprovalAction, ToolAnnotations, ToolRequest, ToolResult} from './tool.ts';

/** A tool as it is offered to a model. */
export interface ToolListing {
  /** What a call names, such as `read_file`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** For the model that chooses among tools. */
  readonly description: string;
  /** The hints of MCP: whether it only reads, destroys, may be repeated, reaches other hosts. */
  readonly annotations: ToolAnnotations;
  /** JSON Schema 2020-12 of the parameters and of the data. */
  readonly paramsSchema: {readonly [keyword: string]: Json};
  /** JSON Schema 2020-12 of the data of a result. */
  readonly dataSchema: {readonly [keyword: string]: Json};
}

/** One `[[tools.approval.rules]]` as it is written; what is left out is empty. */
export type ApprovalRule = {
  /** Name of the tool that the rule is about. */
  readonly tool: string;
  /** What becomes of a call that the rule covers. */
  readonly decision: 'allow' | 'ask' | 'deny';
  /** Exactly one of the three is not empty. */
  readonly host: string;
  /** A pattern in the manner of gitignore. */
  readonly path: string;
  /** The first words of a command. */
  readonly command_prefix: string;
  /** Examples that the rule must cover, checked when it is read. */
  readonly match: readonly string[];
  /** Examples that it must not cover. */
  readonly not_match: readonly string[];
  /** Shown where the rule decides. */
  readonly reason: string;
  /** T1: an `allow` holds for calls that `tools.taint` asks about or refuses too. Default: false. */
  readonly tainted?: boolean;
};

/** What the approver is asked. Summary and preview come from the tool; nothing in them was executed. */
export interface ApprovalQuestion {
  /** That of the call. */
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

/** What the approver says to a question. */
export type ApprovalAnswer =
  | {readonly answer: 'once'}
  /** This exact call (tool, arguments, files), until the session ends. */
  | {readonly answer: 'session'}
  /** Whatever the rule covers, until the session ends. One answer makes at most one rule. */
  | {readonly answer: 'session-rule'; readonly rule: ApprovalRule}
  /** The same, and the rule is handed to the host to keep. */
  | {readonly answer: 'always'; readonly rule: ApprovalRule}
  /** The model sees the reason. */
  | {readonly answer: 'refuse'; readonly reason?: string}
  /** Refuses this call and every later one of the session. */
  | {readonly answer: 'stop'; readonly reason?: string};

/** The port to whoever can be asked. Asked one question at a time; stop waiting when `signal` fires. */
export interface Approver {
  /** Resolves with the answer. What it throws fails the call. */
  readonly ask: (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;
}

/** What one call brings along. Nothing in it reaches the policy but `operatorAddresses`. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** Who is asked about this call. Default: the approver of the toolbox. */
  readonly approver?: Approver | undefined;
  /** Called with a sentence about how far the call is. */
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Lowers the limit of the configuration, never raises it. */
  readonly maxOutputBytes?: number | undefined;
  /** Bytes that the caller has room for; a longer answer is cut to fit. */
  readonly availableCapacityBytes?: number | undefined;
  /**
   * T1: addresses that the operator or the user named, such as those of the user's message: `tools.taint` takes them
   * for theirs from now on. Nothing that a model wrote belongs here.
   */
  readonly operatorAddresses?: readonly string[] | undefined;
}

/** What an interface needs of the toolbox: list, call, and the answer as text. */
export interface ToolHost {
  /** The tools that are offered, in a fixed order. */
  readonly listTools: () => readonly ToolListing[];
  /** Never rejects; an unknown tool, wrong parameters and bugs are error results. */
  readonly call: (request: ToolRequest, options?: CallOptions) => Promise<ToolResult>;
  /** Ruling H2: the result as text that is enough by itself for a model to go on. */
  readonly renderText: (result: ToolResult) => string;
}
