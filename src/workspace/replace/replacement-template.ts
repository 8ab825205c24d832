import {ok, type Result} from '../../core/result.ts';

/** The capturing groups of a pattern, in order; undefined for one without a name. Group 0 is the whole match. */
function groupsOf(pattern: string): readonly (string | undefined)[] {
  const groups: (string | undefined)[] = [];
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '[') {
      depth += 1;
      // A bracket that closes is a plain one where the class begins.
      const begins = /^\[\^?\]/.exec(pattern.slice(at, at + 3));
      if (begins !== null) at += begins[0].length - 1;
    } else if (character === ']' && depth > 0) depth -= 1;
    else if (character === '(' && depth === 0) {
      const name = /^\(\?P?<([^>=!][^>]*)>/.exec(pattern.slice(at, at + 200));
      if (name !== null) groups.push(name[1]);
      else if (pattern[at + 1] !== '?') groups.push(undefined);
    }
  }
  return groups;
}

/**
 * ripgrep takes a group that is not there for an empty text, and `$1_new` for a group of that name: what was meant
 * would vanish from every place without a word. Such a template is refused; the error is why. The value says
 * whether it names groups at all.
 */
export function readTemplate(pattern: string, template: string): Result<boolean, string> {
  const groups = groupsOf(pattern);
  let names = false;
  for (const [written, doubled, braced, bare] of template.matchAll(/(\$\$)|\$\{([^}]*)\}|\$(\w+)/g)) {
    names = true;
    if (doubled !== undefined) continue;
    const name = braced ?? bare ?? '';
    if (/^\d+$/.test(name) ? Number(name) <= groups.length : groups.includes(name)) continue;
    const digits = /^\d+/.exec(bare ?? '')?.[0];
    if (digits !== undefined && digits !== bare && Number(digits) <= groups.length) {
      const rest = (bare ?? '').slice(digits.length);
      return refused(`names the group ${written}; write \${${digits}}${rest}`);
    }
    const count = `query has ${groups.length === 0 ? 'no groups' : `${groups.length} ${groups.length === 1 ? 'group' : 'groups'}`}`;
    return refused(`names the group ${written}, and ${count}; for the character $ write $$`);
  }
  if (groups.length > 0 && /\\\d/.test(template))
    return refused('has a backslash before a number; write $1 for a group');
  return ok(names);
}

function refused(reason: string): Result<never, string> {
  return {ok: false, error: reason};
}
