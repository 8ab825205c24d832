// What an edit that fails costs its reader.
import {expect, test} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import type {Json} from '../../core/result.ts';
import {renderResult} from '../../runtime/execute-call.ts';
import {countTokens} from '../../web/tokens/count-tokens.ts';

const PY = 'sqlparse/engine/grouping.py';
const C = 'cJSON.c';
const TS = 'packages/zod/src/v4/core/schemas.ts';
const MD = 'README.md';
const LONG = `The quick start ${'explains in one long line how to install, to configure and to call it. '.repeat(12)}`;

const FILES = {
  [PY]: [
    'def group_typecasts(tlist):',
    '    def match(token):',
    "        return token.match(T.Punctuation, '::')",
    '',
    '    valid_prev = valid_next = lambda token: token is not None',
    '    _group(tlist, sql.Identifier, match, valid, valid, post)',
    '',
    'def group_tzcasts(tlist):',
    '    def match(token):',
    "        return token.ttype == T.Keyword.TZCast and token.value == 'AT TIME ZONE'",
    '',
    '    _group(tlist, sql.Identifier, match, valid, valid, post)',
    '',
  ].join('\n'),
  [C]: [
    'CJSON_PUBLIC(double) cJSON_GetNumberValue(const cJSON * const item)',
    '{',
    '\tif (!cJSON_IsNumber(item))',
    '\t{',
    '\t\treturn (double) NAN;',
    '\t}',
    '',
    '\treturn item->valuedouble;',
    '}',
    '',
    'CJSON_PUBLIC(const char*) cJSON_Version(void)',
    '{',
    '\tstatic char version[15];',
    '\tsprintf(version, "%i.%i.%i", CJSON_VERSION_MAJOR, CJSON_VERSION_MINOR, CJSON_VERSION_PATCH);',
    '\treturn version;',
    '}',
    '',
  ].join('\n'),
  [TS]: [
    'export interface $ZodStringDef extends $ZodTypeDef {',
    '  type: "string";',
    '  coerce?: boolean;',
    '  checks?: checks.$ZodCheck<string>[];',
    '}',
    '',
    'export const $ZodString: core.$constructor<$ZodString> = /*@__PURE__*/ core.$constructor("$ZodString", (inst, def) => {',
    '  $ZodType.init(inst, def);',
    '  inst._zod.pattern = [...(inst?._zod.bag?.patterns ?? [])].pop() ?? regexes.string(inst._zod.bag);',
    '  inst._zod.parse = (payload, _) => {',
    '    if (def.coerce) payload.value = String(payload.value);',
    '    if (typeof payload.value === "string") return payload;',
    '  };',
    '});',
    '',
  ].join('\n'),
  [MD]: `# Start\n\n${LONG}\n\n## Use\n\nCall it.\n`,
};

const patched = (path: string, ...body: readonly string[]) => ({
  unified_diff: `--- a/${path}\n+++ b/${path}\n${body.join('\n')}\n`,
});
const begun = (path: string, ...body: readonly string[]) => ({
  unified_diff: `*** Begin Patch\n*** Update File: ${path}\n${body.join('\n')}\n*** End Patch\n`,
});
const instead = (path: string, old_string: string) => ({path, old_string, new_string: 'x'});

async function failing(place: CallableWorkspace, tool: string, params: {[name: string]: Json}) {
  const result = await place.call(tool, params);
  expect(result.error).not.toBeNull();
  return renderResult(result, place.tool(tool));
}

const UNREAD = 'apply_patch';
const READ = 'str_replace';

test.each<readonly [string, string, {[name: string]: Json}, string]>([
  [
    'a word of the context',
    UNREAD,
    patched(
      PY,
      '@@ -1,3 +1,3 @@',
      ' def group_typecasts(tlist):',
      '     def match(tok):',
      "-        return token.match(T.Punctuation, '::')",
      '+        return None',
    ),
    'Line 2 is "    def match(token):" in the file, "    def match(tok):" in the hunk.',
  ],
  [
    'spaces for tabs, with line numbers',
    UNREAD,
    patched(
      C,
      '@@ -3,3 +3,3 @@',
      '     if (!cJSON_IsNumber(item))',
      '     {',
      '-        return (double) NAN;',
      '+        return 0;',
    ),
    'differ in tabs against spaces',
  ],
  [
    'nothing like it',
    UNREAD,
    patched(
      TS,
      '@@ -1,2 +1,2 @@',
      '-      return html; // the whole page as it was',
      '+      return text;',
      ' }',
    ),
    'expects "      return html; // the whole page as it was"): the old lines are not in the file.',
  ],
  [
    'a long line',
    UNREAD,
    patched(MD, '@@ -3 +3 @@', `-${LONG.replace('configure', 'set up')}`, '+Short.'),
    'differ in the text',
  ],
  [
    'a long line of code',
    UNREAD,
    begun(
      TS,
      '-  inst._zod.pattern = [...(inst._zod.bag?.patterns ?? [])].pop() ?? regexes.string(inst._zod.bag);',
      '+  x',
    ),
    'nearest: line 9',
  ],
  [
    'lines that are there twice',
    UNREAD,
    begun(PY, '-    def match(token):', '+    def matches(token):'),
    'at lines 2, 9',
  ],
  [
    'a change that is there',
    UNREAD,
    patched(
      C,
      '@@ -13,3 +13,3 @@',
      ' \tstatic char version[15];',
      '-\tsnprintf(version, 15, "%i", CJSON_VERSION_MAJOR);',
      '+\tsprintf(version, "%i.%i.%i", CJSON_VERSION_MAJOR, CJSON_VERSION_MINOR, CJSON_VERSION_PATCH);',
      ' \treturn version;',
    ),
    'there already',
  ],
  [
    'lines that are only added',
    UNREAD,
    patched(TS, '@@ -3,0 +4 @@', '+  trim?: boolean;'),
    'only added lines',
  ],
  [
    'the wrong order',
    UNREAD,
    patched(
      C,
      '@@ -15 +15 @@',
      '-\treturn version;',
      '+\treturn "1";',
      '@@ -8 +8 @@',
      '-\treturn item->valuedouble;',
      '+\treturn 0;',
    ),
    'from top to bottom',
  ],
  [
    'hunks that fail alike',
    UNREAD,
    patched(
      C,
      '@@ -5 +5 @@',
      '-        return (double) NAN;',
      '+        return 0;',
      '@@ -8 +8 @@',
      '-    return item->valuedouble;',
      '+    return 0;',
      '@@ -15 +15 @@',
      '-    return version;',
      '+    return "1";',
    ),
    'Hunks 1 (patch line 3; nearest: line 5), 2 (patch line 6; nearest: line 8), 3 (patch line 9; nearest: line 15) of',
  ],
  [
    'a word of an old_string',
    READ,
    instead(PY, '    def match(tok):\n        return token.match(T.Punctuation, "::")'),
    '1 line below differs too.',
  ],
  [
    'spaces for tabs',
    READ,
    instead(C, '    if (!cJSON_IsNumber(item))\n    {\n        return (double) NAN;\n    }'),
    'differ in tabs against spaces',
  ],
  [
    'an old_string that is nowhere',
    READ,
    instead(TS, 'return html; // the whole page as it was'),
    'does not occur',
  ],
  ['line numbers', READ, instead(C, '3\t\tif (!cJSON_IsNumber(item))\n4\t\t{'), 'line numbers'],
  ['another long line', READ, instead(MD, LONG.replace('configure', 'set up')), 'Nearest: line 3'],
  ['an old_string that is there twice', READ, instead(PY, 'def match(token):'), 'on lines 2, 9'],
])('issue: %s: %s fails in a sentence or two of 120 tokens', async (_, tool, params, says) => {
  const place = await callWorkspaceTools(FILES);
  if (tool === READ) await place.data('read_file', {path: params['path'] ?? ''});
  const text = await failing(place, tool, params);
  expect(text).toContain(says);
  // No JSON beside the sentence.
  expect(text).not.toContain('\n');
  expect(countTokens(text)).toBeLessThanOrEqual(120);
});
