import type {Obtained, SharedBodies, Turn} from '../../core/replicas/shared-bodies.ts';
import type {Result} from '../../core/result.ts';
import type {LoadedPage} from '../page.ts';

export interface LoadOnce {
  /** Of what is loaded, the same for all replicas. */
  readonly name: string;
  readonly noCache: boolean;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** What another replica made, if it passes as a page of ours. `refused`: our rules keep us from it. */
  readonly accept: (bytes: Buffer) => Promise<LoadedPage | 'refused' | undefined>;
  /** With a turn, what is loaded is put there for others. */
  readonly load: (turn: Turn | undefined) => Promise<Result<LoadedPage>>;
}

/** Bodies that cannot be used are passed over so often; each was put after the one before. */
const MOST_LOOKS = 4;

/** Ruling S1: one replica loads a page, and the others take it from there. */
export async function loadOnce(
  {name, noCache: anew, waitMs, signal, accept, load}: LoadOnce,
  bodies: SharedBodies,
): Promise<Result<LoadedPage>> {
  let above = 0;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const obtained: Obtained = await bodies.obtain(name, {signal, waitMs, above, anew});
    switch (obtained.kind) {
      case 'failed':
        return {ok: false, error: obtained.error};
      case 'alone':
        return withNote(await load(undefined), obtained.unavailable);
      case 'turn':
        try {
          return await load(obtained.turn);
        } finally {
          await obtained.turn.end();
        }
      case 'found': {
        const page = await accept(obtained.bytes);
        if (page === 'refused') return load(undefined);
        if (page) return {ok: true, value: page};
        above = obtained.fence;
      }
    }
  }
  return load(undefined);
}

function withNote(page: Result<LoadedPage>, unavailable: boolean): Result<LoadedPage> {
  if (!page.ok || !unavailable) return page;
  return {ok: true, value: {...page.value, notes: [...page.value.notes, 'hub_unavailable']}};
}
