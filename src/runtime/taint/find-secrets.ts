/** Text in which secrets are looked for; a longer one is looked through to here. */
const MOST_CHARACTERS = 4_194_304;
const MOST_FOUND = 64;

const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,4000}?(?:-----END|$)/g;
/** Prefixes that issuers give their tokens so that they can be found. */
const TOKEN =
  /(?<![\w-])(?:gh[pousr]_\w{16,255}|github_pat_\w{16,255}|glpat-[\w-]{16,255}|sk-[\w-]{16,255}|xox[a-z]-[\w-]{8,255}|A(?:KIA|SIA)[A-Z0-9]{12,64}|AIza[\w-]{20,64}|npm_\w{30,64}|pypi-[\w-]{30,255}|eyJ[\w-]{8,2000}\.[\w-]{8,2000}\.[\w-]{8,2000})/g;
/** `NAME = value`, where the name says that it is one. */
const ASSIGNMENT =
  /(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[\w.-]{0,40}["']?[ \t]{0,8}[=:][ \t]{0,8}["']?([^\s"',;]{8,256})/gi;
/** A word has less, a random text of letters and digits more. */
const LEAST_ENTROPY_BITS = 2.8;

/**
 * What looks like a secret: the head of a private key, a token with the prefix of its issuer, an assignment to a name
 * that says so of a value that is no word. A net, not a proof: a passphrase of words passes.
 */
export function findSecrets(text: string): readonly string[] {
  const looked = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text;
  const found = new Set<string>();
  const take = (secret: string): void => {
    if (found.size < MOST_FOUND) found.add(secret);
  };
  for (const [key] of looked.matchAll(PRIVATE_KEY)) {
    const line = key.split('\n').find(one => /^[A-Za-z0-9+/=]{32,}\s*$/.test(one));
    take(line?.trim() ?? '-----BEGIN PRIVATE KEY-----');
  }
  for (const [token] of looked.matchAll(TOKEN)) take(token);
  for (const [, value = ''] of looked.matchAll(ASSIGNMENT)) {
    const isRandom = entropyOf(value) >= LEAST_ENTROPY_BITS && /\d/.test(value) && /[A-Za-z]/.test(value);
    if (isRandom) take(value);
  }
  return [...found];
}

/** Shannon entropy, in bits a character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
