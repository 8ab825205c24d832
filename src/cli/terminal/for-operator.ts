/** What a model is told of the person who configures the tools, and what that person is told. */
const SENTENCES: readonly (readonly [string | RegExp, string])[] = [
  [
    'Have the operator change that setting.',
    'Change it in the configuration; "forge-tools config" says which file that is.',
  ],
  [/\bhave the operator\b/g, 'in the configuration'],
  [/\bHave the operator\b/g, 'In the configuration'],
  ['The operator can run ', 'You can run '],
  [
    'No argument changes that; only the operator can.',
    'The configuration says so; "forge-tools config" prints it.',
  ],
  [', or ask the operator to change it.', ', or change it yourself.'],
  ['what the operator keeps from all tools', 'what is kept from all tools'],
  [' Look it up with list_files or glob.', ' Correct the path.'],
  [
    'Choose the token yourself, or bind',
    'Choose the token in the environment variable FORGE_MCP_TOKEN, or bind',
  ],
];

/** Messages are written for the model that made the call. At a terminal a person reads them. */
export function forOperator(message: string): string {
  return SENTENCES.reduce((text, [from, to]) => text.replace(from, to), message);
}
