/** Stops start-up: the configuration cannot be used. One line of the message per problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One sentence for each problem. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.map(problem => `Configuration error: ${problem}`).join('\n'));
    this.problems = Object.freeze([...problems]);
  }
}
