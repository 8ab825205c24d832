/** What the library imports of other packages. Each becomes a module of dist/vendor/, as it is taken in whole. */
export const VENDORED = [
  '@exodus/bytes/encoding.js',
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/server/stdio',
  'entities/decode',
  'get-east-asian-width',
  'markdown-it',
  'smol-toml',
  'tldts',
  'zod',
];

/** The packages that they are of: a name without the path behind it. */
export const VENDORED_PACKAGES = [
  ...new Set(VENDORED.map(name => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))),
];

/** What is required, and not imported, when a document needs it: an extension of its own says that it can be. */
export const REQUIRED = ['parse5'];
