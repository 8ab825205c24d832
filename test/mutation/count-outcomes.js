/**
 * Counts what came of the mutants of a module. A mutant that no test can notice, because it means the same, is listed
 * in `equivalent/`, by the text of its line and its change, not by its position.
 */
export function countOutcomes(mutants, equivalents) {
  const counts = {mutants: 0, killed: 0, timedOut: 0, survived: 0, noCoverage: 0, equivalent: 0};
  const survivors = [];
  const used = new Set();
  for (const mutant of mutants) {
    counts.mutants += 1;
    counts[mutant.outcome] += 1;
    if (mutant.outcome === 'killed' || mutant.outcome === 'timedOut') continue;
    const survivor = describe(mutant);
    const known = entryOf(survivor, equivalents);
    if (known === undefined) survivors.push(survivor);
    else {
      counts.equivalent += 1;
      used.add(known);
    }
  }
  const caught = counts.killed + counts.timedOut;
  return {
    ...counts,
    raw: percent(caught, counts.mutants),
    score: percent(caught, counts.mutants - counts.equivalent),
    survivors: survivors.sort((one, other) => one.file.localeCompare(other.file) || one.row - other.row),
    // Killed by now, or gone with its line or file: the list must not outlive the code.
    stale: equivalents.filter(one => !used.has(one)),
  };
}

/** Whether a mutant is listed as one that means the same. */
export function isEquivalent(mutant, equivalents) {
  return entryOf(describe(mutant), equivalents) !== undefined;
}

function entryOf({file, line, change}, equivalents) {
  return equivalents.find(one => one.file === file && one.line === line && one.change === change);
}

function describe({file, source, start, end, replacement, outcome}) {
  const lines = source.split('\n');
  const rows = lines.slice(start.line - 1, end.line);
  const last = rows.length - 1;
  rows[last] = rows[last].slice(0, end.column);
  rows[0] = rows[0].slice(start.column);
  return {
    file,
    row: start.line,
    covered: outcome === 'survived',
    line: lines[start.line - 1].trim(),
    change: `${short(rows.join(' '))} → ${short(replacement)}`,
  };
}

function short(code) {
  const text = code.replace(/\s+/g, ' ').trim();
  return text.length > 100 ? `${text.slice(0, 60)} … ${text.slice(-37)}` : text;
}

function percent(part, whole) {
  return whole === 0 ? 100 : (100 * part) / whole;
}
