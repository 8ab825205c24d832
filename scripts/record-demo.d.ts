export declare function recordDemo<Value>(
  use: (recorded: {readonly text: string; readonly report: string}) => Value | Promise<Value>,
): Promise<Value>;
