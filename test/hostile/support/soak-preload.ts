import {writeFileSync} from 'node:fs';
import {faultCodesFor} from './faults-codes.ts';
import {installFaults, type Operation} from './faults-injector.ts';

// Loaded into a server before anything else. With the first SIGUSR2 the system begins to fail now and then;
// each one writes a `SoakSample` to $FORGE_SOAK_SAMPLE.

export interface SoakSample {
  readonly heapBytes: number;
  readonly operations: number;
  readonly failed: number;
}

/** One operation in so many fails. */
const ONE_IN = 150;

/** Without its log a session ends, and what cannot be removed stays: neither is what is looked for here. */
const SPARED = /unlink|rmdir|\.rm$/;

let operations = 0;
let failed = 0;
let state = Number(process.env['FORGE_SOAK_SEED'] ?? 1);
const faults = await installFaults();

function strike(operation: Operation) {
  if (SPARED.test(operation.kind) || /events\.jsonl|\/run\/lock|^file:/.test(operation.subject))
    return undefined;
  operations += 1;
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  if (state % (ONE_IN * 7) >= 7) return undefined;
  failed += 1;
  const codes = faultCodesFor(operation);
  return codes[operations % codes.length];
}

let isArmed = false;
process.on('SIGUSR2', () => {
  // What was failed and counted so far is of no use to anybody.
  if (isArmed) faults.disarm();
  globalThis.gc?.();
  globalThis.gc?.();
  const sample: SoakSample = {heapBytes: process.memoryUsage().heapUsed, operations, failed};
  writeFileSync(process.env['FORGE_SOAK_SAMPLE'] ?? '', JSON.stringify(sample));
  isArmed = true;
  faults.arm(strike);
});
