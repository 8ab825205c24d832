import {createHash} from 'node:crypto';
import type {Json} from '../../core/json.ts';
import {canonicalJson} from './canonical-json.ts';

/** What a decision is bound to: the same tool, arguments and files, and nothing else. */
export interface BoundCall {
  readonly tool: string;
  readonly params: Json;
  readonly fileHashes: {readonly [path: string]: string};
}

/** SHA-256, lower-case hexadecimal. */
export function approvalHash({tool, params, fileHashes}: BoundCall): string {
  return createHash('sha256').update(canonicalJson({tool, params, fileHashes})).digest('hex');
}
