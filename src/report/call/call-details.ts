import type {Json} from '../../core/json.ts';
import {isObject, type JsonObject, objectIn, textIn} from '../json-field.ts';
import {type ReadArtifact, readArtifact} from '../read-artifact.ts';
import type {RecordedCall} from '../run-history.ts';

/** What the run directory holds about one call, beside its events. */
export interface CallDetails {
  readonly params: Json;
  readonly summary: string | undefined;
  readonly preview: string | undefined;
  /** The `ToolResult`, or nothing of it. */
  readonly result: JsonObject;
  readonly diffs: readonly ReadArtifact[];
  readonly outputs: readonly ReadArtifact[];
  /** The record itself, and whatever else is only named. */
  readonly others: readonly ReadArtifact[];
}

const RECORD = /^calls\/step_\d{4,9}\.json$/;

export async function readCallDetails(run: string, call: RecordedCall): Promise<CallDetails> {
  const artifacts = await Promise.all(call.artifacts.map(artifact => readArtifact(run, artifact)));
  const recordFile = artifacts.find(({path}) => RECORD.test(path));
  const record = parse(recordFile?.text);
  const intent = objectIn(record, 'intent');
  const isDiff = ({path}: ReadArtifact): boolean => path.endsWith('.patch') && !path.endsWith('.undo.patch');
  const isOutput = ({path}: ReadArtifact): boolean => path.startsWith('logs/');
  return {
    params: isObject(record) && record['params'] !== undefined ? record['params'] : call.params,
    summary: textIn(intent, 'summary'),
    preview: textIn(intent, 'preview'),
    result: objectIn(record, 'result'),
    diffs: artifacts.filter(isDiff),
    outputs: artifacts.filter(isOutput),
    others: artifacts.filter(artifact => !isDiff(artifact) && !isOutput(artifact)),
  };
}

function parse(text: string | undefined): Json {
  try {
    return text === undefined ? null : (JSON.parse(text) as Json);
  } catch {
    return null;
  }
}
