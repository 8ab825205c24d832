/**
 * Packs the published cl100k_base rank table into vocabulary/cl100k_base.bin, which the token
 * counter maps into memory as it is: nothing is parsed or hashed at run time.
 *
 * Layout, little-endian:
 *
 *   offset  size          content
 *   0       4             magic "FTV1"
 *   4       4             N, the number of tokens
 *   8       4             S, the number of hash slots, a power of two
 *   12      4             B, the number of token bytes
 *   16      32            SHA-256 of everything from offset 48 on
 *   48      4 * S         hash table: rank + 1, or 0 for an empty slot; linear probing
 *   48+4S   4 * (N + 1)   where the bytes of rank r start; they end where those of r + 1 start
 *   …       B             the bytes of all tokens, by rank
 *
 * The hash of a token is 32-bit FNV-1a, folded as in `slotOf` below and in
 * src/web/tokens/vocabulary.ts. The output depends on nothing but the table.
 */
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

const SOURCE = 'tiktoken/encoders/cl100k_base.json';
const TARGET = fileURLToPath(new URL('../vocabulary/cl100k_base.bin', import.meta.url));
/** SHA-256 of the table as OpenAI publishes it (cl100k_base.tiktoken): `base64 rank` lines. */
const PUBLISHED_SHA256 = '223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7';
const MAGIC = 'FTV1';
const HEADER_BYTES = 48;
const SLOTS = 1 << 18;

const sha256 = data => createHash('sha256').update(data).digest();

/** Nothing but this script writes the file, so an intact one of this format is the one it would write. */
function isUpToDate(file) {
  if (!existsSync(file)) return false;
  const packed = readFileSync(file);
  return (
    packed.length > HEADER_BYTES &&
    packed.toString('latin1', 0, 4) === MAGIC &&
    packed.readUInt32LE(8) === SLOTS &&
    packed.subarray(16, HEADER_BYTES).equals(sha256(packed.subarray(HEADER_BYTES)))
  );
}

/** The tokens by rank, from lines of the form `! first-rank base64 base64 …`. */
function readTokens() {
  let source;
  try {
    source = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(SOURCE), 'utf8'));
  } catch (error) {
    throw new Error(`Expected the rank table in ${SOURCE}: ${error.message}. Run npm install and try again.`);
  }
  const base64 = [];
  for (const line of source.bpe_ranks.split('\n').filter(Boolean)) {
    const [, first, ...tokens] = line.split(' ');
    tokens.forEach((token, index) => {
      base64[Number(first) + index] = token;
    });
  }
  const digest = sha256(base64.map((token, rank) => `${token} ${rank}\n`).join('')).toString('hex');
  if (digest !== PUBLISHED_SHA256) {
    throw new Error(
      `Expected the published cl100k_base table (SHA-256 ${PUBLISHED_SHA256}) in ${SOURCE}, got ${digest}. Install the tiktoken version that package-lock.json names.`,
    );
  }
  return base64.map(token => Buffer.from(token, 'base64'));
}

function slotOf(bytes) {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

function pack(tokens) {
  const bytes = Buffer.concat(tokens);
  const table = Buffer.alloc(4 * SLOTS);
  const starts = Buffer.alloc(4 * (tokens.length + 1));
  let start = 0;
  tokens.forEach((token, rank) => {
    let slot = slotOf(token);
    while (table.readUInt32LE(4 * slot) !== 0) slot = (slot + 1) & (SLOTS - 1);
    table.writeUInt32LE(rank + 1, 4 * slot);
    starts.writeUInt32LE(start, 4 * rank);
    start += token.length;
  });
  starts.writeUInt32LE(start, 4 * tokens.length);

  const payload = Buffer.concat([table, starts, bytes]);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 'latin1');
  header.writeUInt32LE(tokens.length, 4);
  header.writeUInt32LE(SLOTS, 8);
  header.writeUInt32LE(bytes.length, 12);
  sha256(payload).copy(header, 16);
  return Buffer.concat([header, payload]);
}

try {
  if (!isUpToDate(TARGET)) {
    const packed = pack(readTokens());
    mkdirSync(new URL('../vocabulary/', import.meta.url), {recursive: true});
    // Renamed into place: a build that runs beside a test never shows it half a file.
    const draft = `${TARGET}.${process.pid}`;
    writeFileSync(draft, packed);
    renameSync(draft, TARGET);
  }
} catch (error) {
  console.error(`build-vocabulary: ${error.message}`);
  process.exitCode = 1;
}
