import {createHash} from 'node:crypto';
import type {Json} from '../../core/json.ts';
import {nextTurn} from '../../system/next-turn.ts';
import {canonicalJson} from './canonical-json.ts';

/** What a decision is bound to: the same tool, arguments and files, and nothing else. */
export interface BoundCall {
  readonly tool: string;
  readonly params: Json;
  readonly fileHashes: {readonly [path: string]: string};
}

/** Characters that are hashed before others have a turn: some milliseconds of work. */
const CHARACTERS_A_TURN = 1_048_576;
/** Short pieces are joined: a hash takes each with a call of its own. */
const SHORTEST_UPDATE = 65_536;

/** SHA-256, lower-case hexadecimal. review R12: in turns, because the contents of a file may be among the arguments. */
export async function approvalHash({tool, params, fileHashes}: BoundCall): Promise<string> {
  const hash = createHash('sha256');
  let pending = '';
  let sinceTurn = 0;
  for (const piece of canonicalJson({tool, params, fileHashes})) {
    pending += piece;
    if (pending.length < SHORTEST_UPDATE) continue;
    hash.update(pending);
    sinceTurn += pending.length;
    pending = '';
    if (sinceTurn < CHARACTERS_A_TURN) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  return hash.update(pending).digest('hex');
}
