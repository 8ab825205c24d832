import {ok, type Result} from '../../core/result.ts';
import type {Intent} from '../../core/tool.ts';

/** What a tool that only reads would do. Rules on paths are matched with `path`. */
export function readingIntent(path: string, summary: string): Result<Intent> {
  return ok({subject: {kind: 'path', values: [path]}, summary, preview: summary, fileHashes: {}});
}
