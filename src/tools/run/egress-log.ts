import type {EgressConnection, EgressVisitor} from '../../core/egress.ts';
import type {ToolContext} from '../../core/tool.ts';

/** Hosts that an answer names; the log has them all. */
const MOST_NAMED = 5;

/** What the connections of one command leave: a line each in the log, and a note on those that came to nothing. */
export class EgressLog implements EgressVisitor {
  readonly #context: ToolContext;
  readonly #problems = new Map<string, EgressConnection>();

  constructor(context: ToolContext) {
    this.#context = context;
  }

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
