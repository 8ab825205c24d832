import {readdirSync, readFileSync} from 'node:fs';
import {expect, onTestFinished, test} from 'vitest';
import {Budget} from '../../src/core/budget.ts';
import {systemClock} from '../../src/core/clock.ts';
import {WorkerPool} from '../../src/web/convert/worker-pool.ts';
import {unwrap} from '../support/outcome.ts';

const CORPUS = new URL('../fixtures/pdf/', import.meta.url);
const names = readdirSync(CORPUS).filter(name => name.endsWith('.pdf'));

async function markdownOf(name: string, pool: WorkerPool): Promise<string> {
  const budget = new Budget(60_000, systemClock);
  try {
    const bytes = new Uint8Array(readFileSync(new URL(name, CORPUS)));
    const job = {kind: 'convert', bytes, media: 'pdf', headerCharset: undefined} as const;
    const converted = await pool.run(
      {...job, baseUrl: 'https://x/', honorBaseHref: false, mode: 'srd', maxTokens: 600},
      budget,
    );
    return unwrap(converted).document.markdown;
  } finally {
    budget.close();
  }
}

/** Letters and digits in a row, in one form; what stands between them readers print in their own ways. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function f1(ours: readonly string[], theirs: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of theirs) left.set(word, (left.get(word) ?? 0) + 1);
  let both = 0;
  for (const word of ours) {
    const count = left.get(word) ?? 0;
    if (count > 0) both += 1;
    left.set(word, count - 1);
  }
  return (2 * both) / (ours.length + theirs.length);
}

test(`R3: the words of ${names.length} PDFs are those that pdftotext reads`, async () => {
  const pool = new WorkerPool();
  onTestFinished(() => pool.close());
  expect(names.length).toBeGreaterThanOrEqual(30);
  const waiting = [...names];
  const scores: Record<string, number> = {};
  const readSome = async (): Promise<void> => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const ours = wordsOf((await markdownOf(name, pool)).replace(/^# Page \d+$/gm, ''));
      const theirs = wordsOf(readFileSync(new URL(name.replace('.pdf', '.txt'), CORPUS), 'utf8'));
      scores[name] = f1(ours, theirs);
    }
  };
  await Promise.all([readSome(), readSome()]);
  const low = Object.keys(scores).filter(name => (scores[name] ?? 0) < 0.97);
  // Its ligature is spelt by ActualText alone, which pdf.js does not read.
  expect(low).toEqual(['ligatures.pdf']);
  const mean = Object.values(scores).reduce((sum, score) => sum + score, 0) / names.length;
  expect(mean).toBeGreaterThan(0.99);
}, 600_000);
