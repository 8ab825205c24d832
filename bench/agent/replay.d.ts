export interface TrialTask {
  readonly name: string;
  readonly calls: readonly {readonly tool: string; readonly params: object}[];
}

export interface CallCost {
  readonly tool: string;
  readonly isError: boolean;
  readonly arguments: number;
  readonly text: number;
  readonly structure: number;
  readonly first: string;
}

export const TASKS: readonly TrialTask[];

export function replayTask(
  task: TrialTask,
  options: {
    readonly program: string;
    readonly calls?: TrialTask['calls'];
    readonly channel: 'both' | 'text';
    readonly count: (text: string) => number;
  },
): Promise<{
  readonly name: string;
  readonly costs: readonly CallCost[];
  readonly left: readonly object[];
  readonly definitions: number;
}>;
