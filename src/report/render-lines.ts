import {type ReportLine, renderCallLine, renderIncidentLine} from './render-line.ts';
import type {RunReader} from './run-reader.ts';

/** Calls that are read at the same time. */
const TOGETHER = 16;

/** Every call gets its part of the page; what one does not need is left to those that follow. */
export async function renderLines(
  {path, history}: Pick<RunReader, 'path' | 'history'>,
  mostCharacters: number,
): Promise<readonly ReportLine[]> {
  const entries = [...history.entries];
  const lines: ReportLine[] = [];
  let left = mostCharacters;
  for (let at = 0; at < entries.length; at += TOGETHER) {
    const share = Math.floor(left / (entries.length - at));
    const group = await Promise.all(
      entries.slice(at, at + TOGETHER).map((entry, index) => {
        if (!('step' in entry)) return renderIncidentLine(entry, at + index);
        return renderCallLine(path, entry, share);
      }),
    );
    for (const {line} of group) left -= line.length;
    lines.push(...group);
  }
  return lines;
}
