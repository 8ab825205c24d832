/** What one caller is to do at one place of a schedule. */
export interface Operation {
  readonly token: string;
  readonly kind: 'edit' | 'edits' | 'everywhere' | 'rewrite' | 'create' | 'patch' | 'rename' | 'delete';
  readonly tool: string;
  /** With what only the model of the tree needs. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly step: number;
  /** The token of its undo, where it is to be undone by its caller. */
  readonly undo?: string;
}

/** A caller with a session of its own. */
export interface Actor {
  readonly name: string;
  readonly operations: readonly Operation[];
}

export interface Crew {
  /** Callers that share a process. */
  readonly actors: readonly Actor[];
  /** The process kills itself at this step on disk. */
  readonly killAt?: number;
}

export type Tree = ReadonlyMap<string, string>;

/** A change that has taken place, as the process that made it says. */
export interface Change {
  readonly token: string;
  readonly files: readonly string[];
}

export const FILES = ['a', 'b', 'd/c'];
const SLOTS = 4;

export const FIRST_TREE: Tree = new Map(FILES.map(file => [file, slots(file, '')]));

function slots(file: string, token: string): string {
  return Array.from({length: SLOTS}, (_, slot) => `${slotName(file, slot)}=${token}0;\n`).join('');
}

function slotName(file: string, slot: number): string {
  return `${file.at(-1)}${slot}`;
}

/** Numbers from 0 up to a bound, the same ones for the same seed. */
export function randomFrom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return bound => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** Up to five callers in up to three processes, of at most three parallel changes each, on few files: so they meet. */
export function makeSchedule(seed: number, isKilled: boolean): readonly Crew[] {
  const random = randomFrom(seed);
  const sizes = [1 + random(3), ...Array.from({length: random(3)}, () => 1)];
  const victim = isKilled ? random(sizes.length) : -1;
  let number = 0;
  return sizes.map((size, at) => {
    const actors = Array.from({length: size}, () => {
      const own = number++;
      const operations = Array.from({length: 1 + random(3)}, (_, index) =>
        makeOperation(`T${seed}x${own}x${index}`, index + 1, random),
      );
      return {name: `actor${own}`, operations};
    });
    if (at !== victim) return {actors};
    const steps = 5 * actors.reduce((sum, {operations}) => sum + operations.length, 0);
    return {actors, killAt: 1 + random(steps)};
  });
}

function makeOperation(token: string, step: number, random: (bound: number) => number): Operation {
  const file = FILES[random(FILES.length)] ?? 'a';
  const slot = random(SLOTS);
  const undo = random(4) === 0 ? {undo: `${token}u`} : {};
  const base = {token, step, ...undo};
  const hunk = (path: string): string => {
    const name = slotName(path, slot);
    return `--- a/${path}\n+++ b/${path}\n@@ -${slot + 1} +${slot + 1} @@\n-${name}=0;\n+${name}=${token}.0;\n`;
  };
  const name = `${slotName(file, slot)}=`;
  switch (random(14)) {
    case 0:
      return {
        ...base,
        kind: 'rewrite',
        tool: 'write_file',
        params: {path: file, content: slots(file, `${token}.`)},
      };
    case 1:
      return {...base, kind: 'create', tool: 'write_file', params: {path: `new/${token}`, content: token}};
    case 2: {
      const other = FILES[(FILES.indexOf(file) + 1) % FILES.length] ?? 'b';
      return {
        ...base,
        kind: 'patch',
        tool: 'apply_patch',
        params: {path: file, other, slot: String(slot), unified_diff: hunk(file) + hunk(other)},
      };
    }
    case 3: {
      const to = `moved/${token}`;
      const unified_diff = `diff --git a/${file} b/${to}\nrename from ${file}\nrename to ${to}\n`;
      return {...base, kind: 'rename', tool: 'apply_patch', params: {from: file, to, unified_diff}};
    }
    case 4:
      return {...base, kind: 'rename', tool: 'move_file', params: {from: file, to: `moved/${token}`}};
    case 5:
      return {...base, kind: 'delete', tool: 'delete_file', params: {path: file}};
    case 6:
    case 7: {
      const other = `${slotName(file, (slot + 1) % SLOTS)}=`;
      const edits = [name, other].map(old_string => ({old_string, new_string: `${old_string}${token}.`}));
      return {...base, kind: 'edits', tool: 'str_replace', params: {path: file, edits}};
    }
    case 8: {
      const edit = {old_string: '=', new_string: `=${token}.`};
      return {
        ...base,
        kind: 'edits',
        tool: 'str_replace',
        params: {path: file, ...edit, replace_all: true},
      };
    }
    case 9: {
      const query = random(2) === 0 ? name : '=';
      return {
        ...base,
        kind: 'everywhere',
        tool: 'replace_in_files',
        params: {query, replacement: `${query}${token}.`},
      };
    }
    default:
      return {
        ...base,
        kind: 'edit',
        tool: 'str_replace',
        params: {path: file, old_string: name, new_string: `${name}${token}.`},
      };
  }
}

/** The parameters that the tool itself knows. */
export function paramsOf({tool, params}: Operation): Record<string, unknown> {
  return tool === 'apply_patch' ? {unified_diff: params['unified_diff']} : {...params};
}

/** The tree after these changes in this order; undefined where one of them could not happen. */
export function replay(
  operations: ReadonlyMap<string, Operation>,
  order: readonly Change[],
): Tree | undefined {
  let tree: Tree = FIRST_TREE;
  const before = new Map<string, Tree>();
  for (const {token, files} of order) {
    const operation = operations.get(token);
    const past = before.get(token.slice(0, -1));
    if (operation !== undefined) {
      before.set(token, tree);
      const next = applied(operation, files, tree);
      if (next === undefined || !isWithin(files, tree, next)) return undefined;
      tree = next;
    } else if (past !== undefined) {
      tree = restored(files, tree, past);
    } else return undefined;
  }
  return tree;
}

/** Nothing else has changed than what the tool says. */
function isWithin(files: readonly string[], tree: Tree, next: Tree): boolean {
  return [...tree.keys(), ...next.keys()].every(
    path => files.includes(path) || tree.get(path) === next.get(path),
  );
}

interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

function applied(operation: Operation, files: readonly string[], tree: Tree): Tree | undefined {
  const {kind, token} = operation;
  const text = (name: string): string => String(operation.params[name] ?? '');
  const path = text('path');
  const next = new Map(tree);
  switch (kind) {
    // A rewrite of a file that was moved away in the meantime makes a new one.
    case 'create':
    case 'rewrite':
      return next.set(path, text('content'));
    case 'edit':
    case 'edits': {
      const edits = (operation.params['edits'] ?? [operation.params]) as readonly Edit[];
      const edited = edits.reduce(withEdit, tree.get(path));
      return edited === undefined ? undefined : next.set(path, edited);
    }
    case 'everywhere': {
      // Which files these are is known to the tool: one that came while it searched may be among them or not.
      const edit = {old_string: text('query'), new_string: text('replacement'), replace_all: true};
      for (const file of files) {
        const edited = withEdit(tree.get(file), edit);
        if (edited === undefined) return undefined;
        next.set(file, edited);
      }
      return files.length === 0 ? undefined : next;
    }
    case 'delete':
      return next.delete(path) ? next : undefined;
    case 'rename': {
      const content = tree.get(text('from'));
      if (content === undefined || tree.has(text('to'))) return undefined;
      next.delete(text('from'));
      return next.set(text('to'), content);
    }
    case 'patch':
      for (const file of [path, text('other')]) {
        const name = slotName(file, Number(text('slot')));
        const now = next.get(file);
        if (now?.includes(`${name}=0;\n`) !== true) return undefined;
        next.set(file, now.replace(`${name}=0;\n`, `${name}=${token}.0;\n`));
      }
      return next;
  }
}

/** Undefined where there is no such text. */
function withEdit(
  content: string | undefined,
  {old_string, new_string, replace_all}: Edit,
): string | undefined {
  if (content?.includes(old_string) !== true) return undefined;
  return replace_all === true
    ? content.replaceAll(old_string, new_string)
    : content.replace(old_string, new_string);
}

function restored(files: readonly string[], tree: Tree, past: Tree): Tree {
  const next = new Map(tree);
  for (const file of files) {
    const text = past.get(file);
    if (text === undefined) next.delete(file);
    else next.set(file, text);
  }
  return next;
}
