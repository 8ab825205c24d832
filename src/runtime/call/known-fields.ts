import type {Failure} from '../../core/failure/failure.ts';
import type {ToolResult} from '../../core/tool.ts';

type Fields = Pick<ToolResult, 'exit_code' | 'stdout_path' | 'stderr_path'>;

/** Ruling W8: what is known of a command that did not end by itself is in the result, as for one that did. */
export function knownFields({details}: Failure): Partial<Fields> {
  const {exit_code, partial} = details;
  const isKept = typeof partial === 'object' && partial !== null && !Array.isArray(partial);
  const {stdout_path, stderr_path} = (isKept ? partial : {}) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof exit_code === 'number' && {exit_code}),
    ...(typeof stdout_path === 'string' && {stdout_path}),
    ...(typeof stderr_path === 'string' && {stderr_path}),
  };
}
