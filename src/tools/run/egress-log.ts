// Logs what a command connected to, and sums it up for the answer.
import type {EgressConnection, EgressTarget, EgressVisitor} from '../../core/egress-gate.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';

/** What rules and questions call it. */
export const EGRESS = 'egress';

/** Hosts that an answer names; the log has them all. */
const MOST_NAMED = 5;

/** What the connections of one command leave: a line each in the log, and a note on those that came to nothing. */
export class EgressLog implements EgressVisitor {
  readonly ask: EgressVisitor['ask'];
  readonly #context: ToolContext;
  readonly #problems = new Map<string, EgressConnection>();

  constructor(context: ToolContext) {
    this.#context = context;
    this.ask = context.approve === undefined ? undefined : (target, signal) => this.#ask(target, signal);
  }

  /** What comes over it is in the output, or in a file, while it is still open too. */
  readonly onReached = ({host, port}: EgressTarget): void => this.#context.metStranger(`${host}:${port}`);

  readonly onConnection = (connection: EgressConnection): void => {
    const {host, port, decision, reason, address, bytesUp, bytesDown, durationMs} = connection;
    if (decision !== 'allowed') this.#problems.set(`${host}:${port}`, connection);
    void this.#context.emit('egress_connection', {
      host,
      port,
      decision,
      reason,
      address,
      bytes_up: bytesUp,
      bytes_down: bytesDown,
      duration_sec: Math.round(durationMs) / 1000,
    });
  };

  async #ask({scheme, host, port}: EgressTarget, signal: AbortSignal): Promise<Result<undefined>> {
    const {approve} = this.#context;
    if (approve === undefined) return ok();
    const isUsual = port === (scheme === 'https' ? 443 : 80);
    const name = `${scheme === 'http' ? 'http://' : ''}${host}${isUsual ? '' : `:${port}`}`;
    return approve(
      {
        action: EGRESS,
        // As an address, so that rules on hosts are about it.
        subject: {kind: 'url', values: [`${scheme}://${host}${isUsual ? '' : `:${port}`}/`]},
        summary: `let the command reach ${name}`,
        toAllow: `add ${JSON.stringify(name)} to tools.run.egress.allow`,
      },
      signal,
    );
  }

  /** `undefined` where every connection was made. */
  note(): string | undefined {
    const problems = [...this.#problems.values()];
    if (problems.length === 0) return undefined;
    const named = problems
      .slice(0, MOST_NAMED)
      .map(({host, port, reason}) =>
        host === '' ? reason : `${host}${port === 0 ? '' : `:${port}`}: ${reason}`,
      );
    const others =
      problems.length > MOST_NAMED ? [`${problems.length - MOST_NAMED} more are in the log.`] : [];
    return `[network: ${[...named, ...others].join(' ')}]`;
  }
}
