/** What the library imports of other packages. Each becomes a module of dist/vendor/, as it is taken in whole. */
export const VENDORED = [
  '@exodus/bytes/encoding.js',
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/server/stdio',
  'get-east-asian-width',
  'parse5',
  'smol-toml',
  'tldts',
  'zod',
];

/** The packages that they are of: a name without the path behind it. */
export const VENDORED_PACKAGES = [
  ...new Set(VENDORED.map(name => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))),
];
