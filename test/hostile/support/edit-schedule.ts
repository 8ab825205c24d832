/** What one caller is to do at one place of a schedule. */
export interface Operation {
  readonly token: string;
  readonly kind: 'edit' | 'rewrite' | 'create' | 'patch' | 'rename';
  readonly tool: string;
  readonly params: Readonly<Record<string, string>>;
  readonly step: number;
  /** How many files it writes or removes. */
  readonly writes: number;
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
  switch (random(8)) {
    case 0:
      return {
        ...base,
        kind: 'rewrite',
        tool: 'write_file',
        params: {path: file, content: slots(file, `${token}.`)},
        writes: 1,
      };
    case 1:
      return {
        ...base,
        kind: 'create',
        tool: 'write_file',
        params: {path: `new/${token}`, content: token},
        writes: 1,
      };
    case 2: {
      const other = FILES[(FILES.indexOf(file) + 1) % FILES.length] ?? 'b';
      return {
        ...base,
        kind: 'patch',
        tool: 'apply_patch',
        params: {path: file, other, slot: String(slot), unified_diff: hunk(file) + hunk(other)},
        writes: 2,
      };
    }
    case 3: {
      const to = `moved/${token}`;
      const unified_diff = `diff --git a/${file} b/${to}\nrename from ${file}\nrename to ${to}\n`;
      return {
        ...base,
        kind: 'rename',
        tool: 'apply_patch',
        params: {path: file, to, unified_diff},
        writes: 2,
      };
    }
    default: {
      const old_string = `${slotName(file, slot)}=`;
      const new_string = `${old_string}${token}.`;
      return {
        ...base,
        kind: 'edit',
        tool: 'str_replace',
        params: {path: file, old_string, new_string},
        writes: 1,
      };
    }
  }
}

/** The parameters that the tool itself knows. */
export function paramsOf({tool, params}: Operation): Record<string, string> {
  const {other: _, slot: __, to: ___, ...rest} = params;
  if (tool !== 'apply_patch') return rest;
  return {unified_diff: params['unified_diff'] ?? ''};
}

/** The tree after the changes with these tokens in this order; undefined where one of them could not happen. */
export function replay(
  operations: ReadonlyMap<string, Operation>,
  order: readonly string[],
): Tree | undefined {
  let tree: Tree = FIRST_TREE;
  const before = new Map<string, Tree>();
  for (const token of order) {
    const undone = operations.get(token.slice(0, -1));
    const operation = operations.get(token);
    const past = before.get(token.slice(0, -1));
    if (operation !== undefined) {
      before.set(token, tree);
      const next = applied(operation, tree);
      if (next === undefined) return undefined;
      tree = next;
    } else if (undone !== undefined && past !== undefined) {
      tree = restored(undone, tree, past);
    } else return undefined;
  }
  return tree;
}

function applied({kind, params, token}: Operation, tree: Tree): Tree | undefined {
  const {path = '', content = '', other = '', to = '', slot = '', old_string = '', new_string = ''} = params;
  const text = tree.get(path);
  // A rewrite of a file that was moved away in the meantime makes a new one.
  if (kind === 'create' || kind === 'rewrite') return new Map([...tree, [path, content]]);
  if (text === undefined) return undefined;
  if (kind === 'edit') {
    return text.includes(old_string)
      ? new Map([...tree, [path, text.replace(old_string, new_string)]])
      : undefined;
  }
  if (kind === 'rename') {
    const next = new Map([...tree, [to, text]]);
    next.delete(path);
    return next;
  }
  const next = new Map(tree);
  for (const file of [path, other]) {
    const name = slotName(file, Number(slot));
    const now = next.get(file);
    if (now?.includes(`${name}=0;\n`) !== true) return undefined;
    next.set(file, now.replace(`${name}=0;\n`, `${name}=${token}.0;\n`));
  }
  return next;
}

function restored({params: {path = '', other, to}}: Operation, tree: Tree, past: Tree): Tree {
  const next = new Map(tree);
  for (const file of [path, other, to]) {
    if (file === undefined) continue;
    const text = past.get(file);
    if (text === undefined) next.delete(file);
    else next.set(file, text);
  }
  return next;
}
