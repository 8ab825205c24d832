/** What the library imports of other packages. Each becomes a module of dist/vendor/, as it is taken in whole. */
export const VENDORED = [
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/server/stdio',
  'get-east-asian-width',
  'ipaddr.js',
  'parse5',
  'smol-toml',
  'tldts',
  'zod',
];
