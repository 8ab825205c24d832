import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {CONFINED} from './pretend-docker.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/**
 * A program that confines nothing, and says of itself what a bubblewrap and process 1 of a sandbox say. A command runs
 * here. What a file of the place holds takes the place of what it would say.
 */
const PROGRAM = `#!/bin/sh
place=\${0%/bin/bwrap}
[ "$1" != --version ] || { echo 'bubblewrap 0.9.0'; exit 0; }
[ "$1" = --args ] || exit 1
trap '' PIPE
cat <&7 >"$place/profile.$$"
mv "$place/profile.$$" "$place/profile"
echo started >>"$place/starts"
printf '{\\n    "child-pid": %s\\n}\\n' $$ >&8
if [ -e "$place/words" ]; then cat "$place/words" >&2; exit 1; fi
read -r boot </proc/sys/kernel/random/boot_id
echo "kernel $boot" >&9
if [ -e "$place/mounts" ]; then
  cat "$place/mounts" >&9
else
  for point in "$@"; do
    case $point in
      /workspace*)
        stat -c 'at %d:%i' "$(cat "$place/workspace")\${point#/workspace}"
        echo "1 1 0:1 / $point ro - x" ;;
    esac
  done >&9
fi
echo ready >&9
script=$(cat)
[ -n "$script" ] || exit 0
eval "$script"
[ ! -e "$place/script" ] || . "$place/script"
echo started >&9
case $command in
  *'cat /proc/self/status'*) cat "$place/probe" >&4; code=0 ;;
  *) (cd "$(cat "$place/workspace")" && exec /usr/bin/env "$@" /bin/sh -c "$command") >&4 2>&5 4>&- 5>&- 8>&- 9>&-; code=$? ;;
esac
echo "ended $code" >&9
[ ! -e "$place/left" ] || cat "$place/left" >&9
echo over >&9
printf '{ "exit-code": %s }\\n' "$code" >&8
exit "$code"
`;

type FileName = 'words' | 'mounts' | 'script' | 'left' | 'probe';

export interface PretendBubblewrap {
  /** For `programDirectories`. */
  readonly programs: readonly string[];
  /** What a file says; `script` is what its shell runs before the command, once that has come. */
  readonly put: (name: FileName, text: string) => void;
  readonly remove: (name: FileName) => void;
  /** How many sandboxes were started so far. */
  readonly starts: () => number;
  /** The arguments that the last one has read. */
  readonly profile: () => readonly string[];
}

export function pretendBubblewrap(workspace: string): PretendBubblewrap {
  const place = temporaryDirectory();
  mkdirSync(join(place, 'bin'));
  writeFileSync(join(place, 'bin/bwrap'), PROGRAM, {mode: 0o755});
  writeFileSync(join(place, 'workspace'), workspace);
  const put: PretendBubblewrap['put'] = (name, text) => writeFileSync(join(place, name), text);
  put(
    'probe',
    CONFINED.replace('CapBnd:\t0000000000000020', 'CapBnd:\t0000000000000000')
      // Without a control group, the process limit of `runOptions` has to hold.
      .replace(/(Max processes +)unlimited +unlimited/, '$1128 128'),
  );
  const textOf = (name: string) =>
    existsSync(join(place, name)) ? readFileSync(join(place, name), 'utf8') : '';
  return {
    programs: [join(place, 'bin')],
    put,
    remove: name => rmSync(join(place, name)),
    starts: () => textOf('starts').split('\n').length - 1,
    profile: () => textOf('profile').split('\0').slice(0, -1),
  };
}
