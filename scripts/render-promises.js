/**
 * The table of SECURITY.md from what test runs reported.
 *
 * @param {readonly {promise: string, proofs: readonly string[], titles?: RegExp}[]} promises
 * @param {readonly {file: string, title: string, status: string}[]} tests by path from the root
 */
export function renderPromises(promises, tests) {
  const rows = promises.map(({promise, proofs, titles}) => {
    const cases = tests.filter(
      ({file, title}) => proofs.some(proof => file.startsWith(proof)) && (titles?.test(title) ?? true),
    );
    const count = status => cases.filter(test => test.status === status).length;
    const [passed, failed] = [count('passed'), count('failed')];
    const skipped = cases.length - passed - failed;
    const result = [
      `${passed} passed`,
      ...(failed === 0 ? [] : [`**${failed} failed**`]),
      ...(skipped === 0 ? [] : [`**${skipped} skipped**`]),
    ].join(', ');
    const where = proofs.map(proof => `\`${proof}${proof.endsWith('.ts') ? '' : '…'}\``).join(' ');
    return `| ${promise} | ${where} | ${cases.length} | ${result} |`;
  });
  return ['| promise | tests | cases | last result |', '|---|---|---|---|', ...rows].join('\n');
}
