import {readdirSync, readFileSync} from 'node:fs';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {Deadline} from '../../src/core/deadline.ts';
import {WorkerPool} from '../../src/web/convert/worker-pool.ts';
import {unwrap} from '../support/outcome.ts';

const CORPUS = new URL('../fixtures/pdf/', import.meta.url);
const names = readdirSync(CORPUS).filter(name => name.endsWith('.pdf'));

async function markdownOf(name: string, pool: WorkerPool): Promise<string> {
  return markdownOfBytes(new Uint8Array(readFileSync(new URL(name, CORPUS))), pool);
}

async function markdownOfBytes(bytes: Uint8Array, pool: WorkerPool): Promise<string> {
  const budget = new Deadline(60_000, systemClock);
  try {
    const job = {kind: 'convert', bytes, media: 'pdf', headerCharset: undefined} as const;
    const converted = await pool.run(
      {...job, baseUrl: 'https://x/', honorBaseHref: false, mode: 'full', maxTokens: 600},
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

test(`R3: the words of ${names.length} PDFs are those that pdftotext reads`, {
  tags: 'stress',
  timeout: 600_000,
}, async () => {
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
});

const TEXT = '(The bank lost five million dollars.) Tj';

/** One page that shows a sentence, and then does what `drawing` says; one layer, `/L`, is off, and `/K` is on. */
function pdfOf(drawing: string): Uint8Array {
  const content = `BT /F 12 Tf 50 700 Td (Bees drink.) Tj ET ${drawing}`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF [6 0 R] >> >> >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> /Properties << /L 6 0 R /K 7 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /OCG /Name (off) >>',
    '<< /Type /OCG /Name (on) >>',
  ];
  const written = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  return new TextEncoder().encode(`%PDF-1.7\n${written}trailer << /Size 8 /Root 1 0 R >>\n%%EOF\n`);
}

test.each([
  ['rendering mode 3', `BT /F 12 Tf 3 Tr 50 650 Td ${TEXT} ET`, false],
  ['rendering mode 7', `q BT /F 12 Tf 7 Tr 50 650 Td ${TEXT} ET Q`, false],
  ['a layer that is off', `/OC /L BDC BT /F 12 Tf 50 650 Td ${TEXT} ET EMC`, false],
  ['a layer within one that is off', `/OC /L BDC /OC /K BDC BT /F 12 Tf 50 650 Td ${TEXT} ET EMC EMC`, false],
  ['a layer that is on', `/OC /K BDC BT /F 12 Tf 50 650 Td ${TEXT} ET EMC`, true],
  ['mode 0 after mode 3 of another', `q 3 Tr Q BT /F 12 Tf 50 650 Td ${TEXT} ET`, true],
])(
  'red team F10: the heading of a page says whether text in %s is drawn',
  {tags: 'slow'},
  async (_, drawing, isDrawn) => {
    const pool = new WorkerPool();
    onTestFinished(() => pool.close());
    const heading = isDrawn ? '# Page 1' : '# Page 1 (some of its text is not drawn)';
    expect(await markdownOfBytes(pdfOf(drawing), pool)).toBe(
      `${heading}\n\nBees drink.\n\nThe bank lost five million dollars.\n`,
    );
  },
);
