// One command at the gate: its connections, and what they may still use.
import type {EgressConnection, EgressTarget, EgressVisitor} from '../core/egress-gate.ts';
import {fail, ok, type Result} from '../core/result.ts';
import type {Stopped} from './sockets.ts';

/** What a command may use of the way out. */
export interface EgressLimits {
  readonly maxConnections: number;
  readonly maxBytes: number;
  readonly maxConnectionMs: number;
}

/** Connections of one command that are open at a time. */
export const MOST_AT_ONCE = 64;

/** Hosts that a command may have asked about: nobody reads a list that it makes up. */
const MOST_QUESTIONS = 8;

export class Visit {
  readonly limits: EgressLimits;
  readonly #visitor: EgressVisitor;
  readonly #live = new Set<() => void>();
  readonly #answers = new Map<string, Promise<Result<undefined>>>();
  #connections = 0;
  #bytes = 0;
  #isOver = false;
  readonly #controller = new AbortController();

  constructor(visitor: EgressVisitor, limits: EgressLimits) {
    this.#visitor = visitor;
    this.limits = limits;
  }

  /** Counts a connection. The value is why there may be no further one, for the command to read. */
  enter(end: () => void): string | undefined {
    if (this.#isOver) return 'The command has ended.';
    this.#connections += 1;
    const {maxConnections} = this.limits;
    if (this.#connections > maxConnections) {
      return `The command has made ${maxConnections} connections, as many as tools.run.egress.max_connections allows.`;
    }
    if (this.#live.size >= MOST_AT_ONCE)
      return `The command has ${MOST_AT_ONCE} connections open. Close some.`;
    this.#live.add(end);
    return undefined;
  }

  reached(target: EgressTarget): void {
    this.#visitor.onReached?.(target);
  }

  /** It has ended. Past the limit the log has said it once. */
  leave(end: () => void, connection: EgressConnection): void {
    const wasOpen = this.#live.delete(end);
    const isTold = wasOpen || this.#connections <= this.limits.maxConnections + 1;
    if (isTold && !this.#isOver) this.#visitor.onConnection(connection);
  }

  /** False where the bytes are more than the command may still move. */
  move(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= this.limits.maxBytes;
  }

  get hasBytesLeft(): boolean {
    return this.#bytes < this.limits.maxBytes;
  }

  get asks(): boolean {
    return this.#visitor.ask !== undefined;
  }

  /** Ten connections to one host are one question, and "once" is for the command. */
  async ask(target: EgressTarget): Promise<Result<undefined>> {
    const {ask} = this.#visitor;
    if (ask === undefined) return ok();
    const key = `${target.scheme}://${target.host}:${target.port}`;
    const earlier = this.#answers.get(key);
    if (earlier !== undefined) return earlier;
    if (this.#answers.size >= MOST_QUESTIONS) {
      const message = `The command has asked for ${MOST_QUESTIONS} other hosts already.`;
      return fail('approval_required', message, {tool: 'egress', setting: 'tools.run.egress.allow'});
    }
    const answer = ask(target, this.#controller.signal);
    this.#answers.set(key, answer);
    return answer;
  }

  /** Ends every connection. They are reported first. */
  close(): void {
    for (const end of [...this.#live]) end();
    this.#isOver = true;
    this.#controller.abort();
  }
}

/** How a connection of a command ends that may move no more. */
export function overBudget(status?: number): Stopped {
  const reason = 'The command has moved as many bytes as tools.run.egress.max_mb allows.';
  return {decision: 'refused', reason, ...(status === undefined ? {} : {status})};
}
