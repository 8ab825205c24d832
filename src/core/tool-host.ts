import type {Json} from './json.ts';
import type {ApprovalAction, ToolAnnotations, ToolRequest, ToolResult} from './tool.ts';

/** A tool as it is offered to a model. */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  /** JSON Schema 2020-12 of the parameters and of the data. */
  readonly paramsSchema: {readonly [keyword: string]: Json};
  readonly dataSchema: {readonly [keyword: string]: Json};
}

/** One `[[tools.approval.rules]]` as it is written; what is left out is empty. */
export type ApprovalRule = {
  readonly tool: string;
  readonly decision: 'allow' | 'ask' | 'deny';
  /** Exactly one of the three is not empty. */
  readonly host: string;
  readonly path: string;
  readonly command_prefix: string;
  readonly match: readonly string[];
  readonly not_match: readonly string[];
  readonly reason: string;
};

/** What the approver is asked. Summary and preview come from the tool; nothing in them was executed. */
export interface ApprovalQuestion {
  readonly requestId: string;
  readonly tool: string;
  readonly action: ApprovalAction | undefined;
  /** One line, redacted. */
  readonly summary: string;
  /** The diff, the command or the address. */
  readonly preview: string;
  /** Identifies the call: its tool, its arguments, and the content of the files that it would change. */
  readonly hash: string;
  /** Why it is asked: the setting or rule, and its reason. */
  readonly by: string;
  readonly reason: string;
  /** A narrow rule that covers this call, to be edited; `undefined` where none can. */
  readonly suggestedRule: ApprovalRule | undefined;
  /** Why a rule cannot be the answer: it is no rule, or does not cover this call. `undefined` where it can. */
  readonly ruleProblem: (rule: ApprovalRule) => string | undefined;
  /** Whether `always` is kept beyond the session. */
  readonly canRemember: boolean;
}

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
  readonly ask: (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;
}

/** What one call brings along. Nothing in it reaches the policy. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly approver?: Approver | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Lowers the limit of the configuration, never raises it. */
  readonly maxOutputBytes?: number | undefined;
  readonly availableCapacityBytes?: number | undefined;
}

/** What an interface needs of the toolbox: list, call, and the answer as text. */
export interface ToolHost {
  readonly listTools: () => readonly ToolListing[];
  /** Never rejects; an unknown tool, wrong parameters and bugs are error results. */
  readonly call: (request: ToolRequest, options?: CallOptions) => Promise<ToolResult>;
  /** Ruling H2: the result as text that is enough by itself for a model to go on. */
  readonly renderText: (result: ToolResult) => string;
}
