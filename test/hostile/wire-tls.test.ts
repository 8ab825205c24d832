import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {PLACES} from './support/wire-behaviours.ts';
import {TLS_AUTHORITY, TLS_BEHAVIOURS, TLS_CERTIFICATE} from './support/wire-tls-behaviours.ts';
import {inParallel, type Outcome, openWireWorld, SLOW_SECONDS, type WireWorld} from './support/wire-world.ts';

const CASES = TLS_BEHAVIOURS.flatMap(behaviour => PLACES.map(place => ({behaviour, place})));
const GRACE_MS = 4000;

describe('TLS', () => {
  const outcomes = new Map<string, Outcome>();
  let world: WireWorld;

  beforeAll(async () => {
    world = await openWireWorld(TLS_BEHAVIOURS, {ca: TLS_AUTHORITY.pem, certificate: TLS_CERTIFICATE});
    await inParallel(CASES, 16, async ({behaviour, place}) => {
      outcomes.set(`${behaviour.name} ${place}`, await world.meet(behaviour, place));
    });
  }, 60_000);
  afterAll(async () => {
    await world.close();
    await world.server.close();
  });

  describe.each(PLACES)('FR-WF-BSSR-TLS-01 as %s', place => {
    test.each(TLS_BEHAVIOURS.map(behaviour => [behaviour.name, behaviour] as const))(
      '%s',
      (name, behaviour) => {
        const outcome = outcomes.get(`${name} ${place}`);
        expect([behaviour.expected[place]].flat()).toContain(outcome?.said);
        expect(outcome?.hungUp).toBe(true);
        if (behaviour.slow) expect(outcome?.elapsedMs).toBeLessThan(SLOW_SECONDS * 1000 + GRACE_MS);
      },
    );
  });

  test('no connection is left', async () => {
    await world.close();
    await expect.poll(() => world.server.open()).toBe(0);
  });
});
