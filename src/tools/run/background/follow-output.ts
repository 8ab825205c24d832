import {ok, type Result} from '../../../core/result.ts';
import type {Stream} from '../kept-output.ts';
import type {OutputSource, ReadRange} from '../output-range.ts';
import type {BackgroundCommand} from './background-command.ts';

const NEWLINE = 10;

type ShownLines = Pick<ReadRange, 'start_line' | 'end_line' | 'total_lines'>;

export interface FollowedOutput {
  /** The first line that was not shown yet. */
  readonly start: number;
  /** The answer where there is no such line. */
  readonly nothingNew: Result<ReadRange> | undefined;
  /** The same, and it is noticed how it ends. */
  readonly source: OutputSource;
  /** To be called with what is shown: a line that is not complete is shown again. */
  readonly shown: (range: ShownLines) => void;
}

/** W21: what a command in the background has written since it was last looked at. */
export function followOutput(
  command: BackgroundCommand,
  stream: Stream,
  source: OutputSource,
): FollowedOutput {
  const start = command.shown[stream] + 1;
  let endsInLine = false;
  const {file} = source;
  const blocks = async function* (from?: number) {
    for await (const block of file.blocks(from)) {
      if (block.length > 0) endsInLine = block.at(-1) !== NEWLINE;
      yield block;
    }
  };
  const lines = command.linesOf(stream);
  return {
    start,
    nothingNew:
      lines >= start
        ? undefined
        : ok({
            total_lines: lines,
            complete: !source.isCut,
            start_line: start,
            end_line: lines,
            content: '',
            truncated: false,
          }),
    source: {...source, file: {...file, blocks}},
    shown: ({start_line, end_line, total_lines}) => {
      // Whoever asks for a later part has not seen what lies before it.
      if (start_line > command.shown[stream] + 1) return;
      const isOpen = command.end === undefined && endsInLine && end_line === total_lines;
      command.shown[stream] = Math.max(command.shown[stream], isOpen ? end_line - 1 : end_line);
    },
  };
}
