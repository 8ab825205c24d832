import {parsePatch} from '../../src/workspace/patch/parse-patch.ts';
import type {PatchSection} from '../../src/workspace/patch/patch.ts';

/** What a patch says, a line for each section and hunk; or `line: reason` of every problem. */
export function describeParsed(text: string): readonly string[] {
  const result = parsePatch(text);
  if (!result.ok) {
    const listed = result.error.details['problems'] as readonly {line: number; reason: string}[];
    return listed.map(({line, reason}) => `${line}: ${reason}`);
  }
  const {sections, recounted} = result.value;
  return [...sections.flatMap(describeSection), ...(recounted > 0 ? [`recounted ${recounted}`] : [])];
}

function describeSection(section: PatchSection): readonly string[] {
  const {line, kind, path, hunks} = section;
  const from = kind === 'rename' ? `${section.from} => ` : '';
  const executable = kind === 'delete' ? undefined : section.executable;
  const mode = executable === undefined ? '' : executable ? ' x' : ' -x';
  const whole = kind === 'delete' && section.whole === true ? ' whole' : '';
  return [
    `${line} ${kind} ${from}${path}${mode}${whole}`,
    ...hunks.map(hunk => {
      const at = hunk.hasNoLineNumber === true ? '*' : (hunk.oldStart ?? '?');
      return `${hunk.line} @${at} ${hunk.lines.map(one => one.kind + one.text).join('|')}`;
    }),
  ];
}
