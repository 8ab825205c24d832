import {chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {temporaryDirectory} from './temporary-directory.ts';

/** What a process in a container that confines as it should says of itself. */
export const CONFINED = [
  ...['CapInh:\t0000000000000000', 'CapPrm:\t0000000000000000', 'CapEff:\t0000000000000000'],
  ...['CapBnd:\t0000000000000020', 'CapAmb:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2'],
  ...['Max processes             unlimited            unlimited            processes'],
  ...['Max open files            4096                 4096                 files'],
  ...['    lo:       0       0    0', 'workspace writable', ''],
].join('\n');

const INFO = {ServerVersion: '27.0', Driver: 'overlay2', MemoryLimit: true, PidsLimit: true};

/**
 * A client without a daemon: a "container" says what the files of the place say, and a command in one runs here, in
 * a process group that is killed when the supervisor is asked to. It writes down how it was called.
 */
const CLIENT = `#!/bin/sh
place=\${0%/bin/docker}
cd "$place" || exit 9
{ printf '%s\\037' "$@"; printf '\\036'; } >>calls
if [ -e "fails-$1" ]; then cat "fails-$1" >&2; exit 125; fi
case $1 in
  info) cat info ;;
  image) echo sha256:1234 ;;
  ps) cat containers ;;
  rm) ;;
  run)
    echo $$ >supervisor
    echo 'oom 0'
    echo ready
    while read -r reporter; do
      [ -e group ] && kill -s KILL -- "-$(cat group)" 2>/dev/null
      cat left
    done ;;
  exec)
    while :; do case $1 in forge-tools-*) break ;; *) shift ;; esac; done
    if [ -e gone ]; then rm gone; kill "$(cat supervisor)"; echo "No such container: $1" >&2; exit 1; fi
    shift
    case $* in
      *report_mounts*) cat mounts ;;
      cat*) cat network ;;
      *'cat /proc/self/status'*)
        start=$3
        exec /bin/sh -c "$start" sh '' /bin/cat "$place/probe" ;;
      *)
        echo $$ >group
        exec setsid "$@" ;;
    esac ;;
esac
`;

const FILES = ['info', 'containers', 'left', 'mounts', 'network', 'probe'] as const;

export interface PretendDocker {
  /** Where the client lies: for `programDirectories`. */
  readonly programs: string;
  /** What a file says; `gone` ends the container before the next command, `fails-run` a client end with these words. */
  readonly put: (name: (typeof FILES)[number] | 'gone' | `fails-${string}`, text: string) => void;
  /** Arguments of each call so far that began with this one. */
  readonly calls: (first: string) => readonly (readonly string[])[];
}

export function pretendDocker(info: Readonly<Record<string, unknown>> = {}): PretendDocker {
  const place = temporaryDirectory();
  const programs = join(place, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'docker'), CLIENT);
  chmodSync(join(programs, 'docker'), 0o755);
  // In one step: a `cat` that has said all and looks for the end would read on in a file that grew.
  const put: PretendDocker['put'] = (name, text) => {
    writeFileSync(join(place, 'new'), text);
    renameSync(join(place, 'new'), join(place, name));
  };
  for (const name of FILES) put(name, '');
  put('info', JSON.stringify({...INFO, ...info}));
  put('left', 'oom 0\nswept\n');
  put('mounts', 'kernel of-another-machine\n');
  put('probe', CONFINED);
  const calls: PretendDocker['calls'] = first => {
    const file = join(place, 'calls');
    const all = existsSync(file) ? readFileSync(file, 'utf8').split('\x1e').slice(0, -1) : [];
    return all.map(call => call.split('\x1f').slice(0, -1)).filter(([word]) => word === first);
  };
  return {programs, put, calls};
}
