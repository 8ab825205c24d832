import {fail} from '../../core/failure/fail.ts';
import type {Json} from '../../core/json.ts';
import type {Result} from '../../core/result.ts';
import {showInvisible} from '../../core/text/show-invisible.ts';
import {takeStart} from '../../core/text/take-start.ts';
import type {ParameterProblem, PreparedCall, SchemaProblem, Tool} from '../../core/tool.ts';
import {ourName} from '../our-name.ts';
import {PARAMETER_NOTES, PARAMETER_SYNONYMS} from '../synonyms.data.ts';
import {nestedDeeperThan} from './nested-deeper-than.ts';

/** Deeper than the parameters of any tool; what walks them later need not fear the stack. */
const DEEPEST = 64;
/** More than this many problems are counted. */
const MOST_PROBLEMS = 5;
/** Of so many, names of ours are looked for: a call can have hundreds of thousands. */
const MOST_LOOKED = 50;
const LONGEST_NAME = 64;
const LONGEST_LIST = 4000;

/** FR-ERR-JSON-02: validates, and says what is wrong with each parameter and what there is. */
export function prepareCall(tool: Tool, params: Json): Result<PreparedCall> {
  if (nestedDeeperThan(DEEPEST, params)) {
    const reason = `must not be nested deeper than ${DEEPEST} levels`;
    const problem = {field: 'params', kind: 'invalid', reason} as const;
    return refuse(tool, {field: 'params', reason, all: `params: ${reason}`, problems: [problem]});
  }
  const prepared = tool.prepare(params);
  return prepared.ok ? prepared : refuse(tool, prepared.error);
}

function refuse(tool: Tool, {field, reason, all, problems}: SchemaProblem): Result<never> {
  const {properties} = tool.paramsSchema;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const known = names.length === 0 ? 'It has no parameters.' : `Known: ${names.join(', ')}.`;
  const looked = problems.slice(0, MOST_LOOKED);
  const sentences = sentencesOf(looked, names);
  const rest = Math.max(0, sentences.length - MOST_PROBLEMS) + problems.length - looked.length;
  const more = rest > 0 ? ` And ${rest} more.` : '';
  const message = `${sentences.slice(0, MOST_PROBLEMS).join(' ')}${more} ${known}`;
  return fail(tool.badParams, message, {
    field: takeStart(field, LONGEST_NAME),
    reason,
    validation: takeStart(all, LONGEST_LIST),
  });
}

/** A parameter that is given under another name is not called missing as well. */
function sentencesOf(problems: readonly ParameterProblem[], names: readonly string[]): readonly string[] {
  const meant = new Map<string, string>();
  for (const {field, kind} of problems) {
    const ours = kind === 'unknown' ? ourName(field, names, PARAMETER_SYNONYMS) : undefined;
    if (ours !== undefined) meant.set(field, ours);
  }
  const renamed = new Set(meant.values());
  return problems
    .filter(({field, kind}) => kind !== 'missing' || !renamed.has(field))
    .map(({field, kind, reason}) => {
      const name = JSON.stringify(showInvisible(takeStart(field, LONGEST_NAME)));
      if (kind !== 'unknown') return field === 'params' ? `The parameters ${reason}.` : `${name} ${reason}.`;
      const ours = meant.get(field);
      if (ours === undefined) return `There is no parameter ${name}.`;
      const note = PARAMETER_NOTES[ours];
      return `There is no parameter ${name}; it is called "${ours}"${note === undefined ? '' : ` (${note})`}.`;
    });
}
