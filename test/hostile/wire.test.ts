import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createCertificateAuthority} from '../support/certificates.ts';
import {BEHAVIOURS, type Behaviour, PLACES, type Place} from './support/wire-behaviours.ts';
import {
  countHoldings,
  FAST_SECONDS,
  inParallel,
  isHeld,
  type Outcome,
  openWireWorld,
  SLOW_SECONDS,
  type WireWorld,
} from './support/wire-world.ts';

const CASES = BEHAVIOURS.flatMap(behaviour => PLACES.map(place => ({behaviour, place})));
type Case = (typeof CASES)[number];

const [FAST, SLOW] = [
  CASES.filter(({behaviour, place}) => !isHeld(behaviour, place)),
  CASES.filter(({behaviour, place}) => isHeld(behaviour, place)),
];
const AT_ONCE = 16;
/** What the buffers of two sockets hold, several times over. */
const MOST_SENT = 33_554_432;
/** For the calls that end at the deadline: what else the machine may be doing meanwhile. */
const GRACE_MS = 4000;
const ALL_MS = 240_000;
const MEGABYTE = 1_048_576;

const keyOf = (behaviour: Behaviour, place: Place): string => `${behaviour.name} ${place}`;

describe.each(['http', 'https'] as const)('over %s', scheme => {
  const outcomes = new Map<string, Outcome>();
  let world: WireWorld;

  const meetAll = (cases: readonly Case[], atOnce: number): Promise<void> =>
    inParallel(cases, atOnce, async ({behaviour, place}) => {
      outcomes.set(keyOf(behaviour, place), await world.meet(behaviour, place));
    });

  beforeAll(async () => {
    const authority = createCertificateAuthority();
    const certificate = authority.issue({names: ['*.wire.test']});
    world = await openWireWorld(
      BEHAVIOURS,
      scheme === 'https' ? {ca: authority.pem, certificate} : undefined,
    );
    await meetAll(FAST, AT_ONCE);
    // All of them wait for the same deadline.
    await meetAll(SLOW, SLOW.length);
  }, ALL_MS);
  afterAll(async () => {
    await world.close();
    await world.server.close();
  });

  describe.each(PLACES)('as %s', place => {
    test.each(BEHAVIOURS.map(behaviour => [behaviour.name, behaviour] as const))('%s', (_, behaviour) => {
      const outcome = outcomes.get(keyOf(behaviour, place));
      const expected = [behaviour.expected[place]].flat();
      expect(expected).toContain(outcome?.said);
      expect(outcome?.hungUp).toBe(true);
      const budgetMs = (isHeld(behaviour, place) ? SLOW_SECONDS : FAST_SECONDS) * 1000;
      const elapsedMs = outcome?.elapsedMs ?? Number.POSITIVE_INFINITY;
      expect(elapsedMs).toBeLessThan(budgetMs + GRACE_MS);
      expect(outcome?.sentBytes).toBeLessThan(MOST_SENT);
    });
  });

  test(
    'sockets, descriptors and memory are back where they were after the whole table once more',
    async () => {
      // What is built once was built by the first round; what rests in the pool goes with its time.
      const before = await countHoldings();
      await meetAll(FAST, AT_ONCE);
      const after = await countHoldings();
      expect(after.bytes - before.bytes).toBeLessThan(4 * MEGABYTE);

      await world.close();
      await expect.poll(() => world.server.open()).toBe(0);
      const closed = await countHoldings();
      expect(closed.sockets).toBeLessThanOrEqual(before.sockets);
      expect(closed.descriptors).toBeLessThanOrEqual(before.descriptors);
    },
    ALL_MS,
  );
});
