/** What programs print with: language, time zone, colours and the size of a terminal. */
const NAME =
  /^(?:LANG|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|CI)$/;

/** A path: some of these name files for some programs. */
const LEADS_ELSEWHERE = /^[/:]|\.\./;

/**
 * Whether a variable can be given to a process of the host. Review R10: there is no end of names that make a
 * program load or run something else (`PATH`, `HOME`, `MAKEFLAGS`, `PAGER`, `GOFLAGS`), so the harmless ones
 * are listed and not the others.
 */
export function isHarmlessVariable(name: string, value: string): boolean {
  return NAME.test(name) && !LEADS_ELSEWHERE.test(value);
}
