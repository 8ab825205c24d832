import type {Toolbox, ToolboxOptions} from '../../src/index.ts';

/** A recorded trace; `reaches` is what a hijack is after, `pending` why it cannot be replayed yet. */
export interface Trace {
  readonly id: string;
  readonly title: string;
  readonly pending?: string;
}

export function readTraces(kind: 'benign' | 'hijacks'): readonly Trace[];

export function replay(
  trace: Trace,
  mode: 'off' | 'warn' | 'enforce',
  createToolbox: (options: ToolboxOptions) => Toolbox,
): Promise<{
  readonly asked: readonly string[];
  readonly failed: readonly string[];
  readonly reached: boolean;
}>;
