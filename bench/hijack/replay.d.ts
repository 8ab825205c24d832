import type {Toolbox, ToolboxOptions} from '../../src/index.ts';

/** A recorded trace; `reaches` is what a hijack is after, `egress` that its commands have a way out. */
export interface Trace {
  readonly id: string;
  readonly title: string;
  readonly egress?: boolean;
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
