import {createHash} from 'node:crypto';
import type {Json} from '../../core/json.ts';
import type {Intent, ToolResult} from '../../core/tool.ts';
import {type RedactionLimits, redactPayload} from '../events/redact-payload.ts';

/** A file of the run directory, as `tool_call_finished` names it. */
export interface Artifact {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The largest answer by default fits; what a configuration allows beyond that is cut. */
const OF_A_RECORD: RedactionLimits = {
  longestText: 262_144,
  shown: 262_144,
  mostEntries: 10_000,
  deepest: 24,
  mostCharacters: 1_000_000,
};

/** `calls/step_0007.json` */
export function stepRecordPath(step: number): string {
  return `calls/step_${String(step).padStart(4, '0')}.json`;
}

/**
 * A call as a whole, redacted as events are, but with its long texts: what was asked, what it was going
 * to do (`null` where it did not get that far), and the result that the caller got.
 */
export function renderCallRecord(params: Json, intent: Intent | undefined, result: ToolResult): string {
  const record = {
    version: 1,
    params,
    intent: intent === undefined ? null : {summary: intent.summary, preview: intent.preview},
    result: {...result, error: result.error === null ? null : {...result.error}},
  };
  return `${JSON.stringify(redactPayload(record, OF_A_RECORD))}\n`;
}

export function hashArtifact(path: string, content: Uint8Array | string): Artifact {
  return {
    path,
    bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}
