import {expect, test} from 'vitest';
import {Budget} from '../../core/budget.ts';
import {systemClock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {silentLog} from '../../core/log.ts';
import {NetworkIdle} from './network-idle.ts';
import {PageLoad} from './page-load.ts';

test('review B12: an address that is none leaves the document as it is', () => {
  const nothing = async () => fail('network', 'There is nothing else.');
  const ports = {navigate: nothing, openUrl: nothing, clock: systemClock, log: silentLog};
  const idle = new NetworkIdle(systemClock);
  const budget = new Budget(1000, systemClock);
  const first = {
    url: 'http://a.example/',
    headers: new Map(),
    contentType: 'text/html',
    bytes: new Uint8Array(),
    charsetFallback: false,
  } as const;
  const main = new PageLoad(first, ports, idle, budget);
  main.navigated(':');
  expect(main.document).toBe(first);
  idle.close();
  budget.close();
});
