/** What the library imports of other packages. Each becomes a module of dist/vendor/, as it is taken in whole. */
export const VENDORED = [
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/server/stdio',
  'get-east-asian-width',
  'ipaddr.js',
  'smol-toml',
  'tldts',
  'zod',
];

/** What is required, and not imported, when a document needs it: an extension of its own says that it can be. */
export const REQUIRED = ['parse5'];
