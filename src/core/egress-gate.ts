// The port between sandboxes and the network gate. The sandboxes open channels; the gate decides on each
// connection.
import type {Result} from './result.ts';

/** How a command speaks to a host through the gate: TLS in a tunnel, or plain HTTP requests. */
export type EgressScheme = 'https' | 'http';

/** A host that a command wants to reach. The name is in lower case and no address. */
export interface EgressTarget {
  readonly scheme: EgressScheme;
  readonly host: string;
  readonly port: number;
}

/** What became of one connection that a command made to the gate. */
export interface EgressConnection {
  /** As the command named it, made visible and cut; empty where no name was read. */
  readonly host: string;
  /** 0 where none was read. */
  readonly port: number;
  readonly decision: 'allowed' | 'refused' | 'failed';
  /** One sentence: what allowed or refused it, or why it failed. */
  readonly reason: string;
  /** What it was connected to; empty where nothing was. */
  readonly address: string;
  /** Bytes from the command to the host, and back. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly durationMs: number;
  /** The host is in no setting: adding it would allow it. */
  readonly isUnlisted: boolean;
}

/** One command, as the gate sees it. */
export interface EgressVisitor {
  /** Called when the host has been connected to, before anything of it is passed on. */
  readonly onReached?: ((target: EgressTarget) => void) | undefined;
  /** Called when a connection has ended, however it did. */
  readonly onConnection: (connection: EgressConnection) => void;
  /** Asks whether a host that no setting names may be reached; absent where nobody can be asked. */
  readonly ask?: ((target: EgressTarget, signal: AbortSignal) => Promise<Result<undefined>>) | undefined;
}

/** A socket of the gate that is mounted into one sandbox. */
export interface EgressChannel {
  /** Absolute path of the unix socket on the host. */
  readonly socketPath: string;
  /** PEM of the authorities that commands are to trust, where the gate ends TLS for a host. Beside the socket. */
  readonly bundlePath?: string | undefined;
  /**
   * From here on, connections are those of this command; before and after, every connection is refused. The value ends
   * them all.
   */
  readonly attach: (visitor: EgressVisitor) => () => void;
  /** Ends the connections and removes the socket. */
  readonly close: () => Promise<void>;
}

/** The way out of all sandboxes of a session (ruling X1). */
export interface EgressGate {
  /** For hosts with a credential, commands speak TLS with the gate, and have to trust it. */
  readonly endsTls: boolean;
  /** For a sandbox whose processes belong to this user of the host. Errors: `sandbox_error`. */
  readonly open: (uid: number | undefined) => Promise<Result<EgressChannel>>;
  readonly close: () => Promise<void>;
}
