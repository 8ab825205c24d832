#!/usr/bin/env bash
# A Docker engine for the tests, of Debian's docker.io, with one image made of packages of this machine.
#   eval "$(test/support/docker-engine.sh start)"   starts it, imports the image, prints the environment
#   test/support/docker-engine.sh stop              ends what it started
# Needs root. No network: no bridge, no iptables, nothing is pulled. Both commands can be repeated.
set -euo pipefail

state="${FORGE_DOCKER_STATE:-/tmp/forge-docker-engine}"
socket="unix://$state/docker.sock"
image='forge-test:latest'
docker() { DOCKER_HOST="$socket" command docker "$@"; }

running() {
  [ -f "$state/pid" ] || return 1
  local pid
  pid="$(cat "$state/pid")"
  # The number alone could be another process's by now.
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] && grep -qa -- "$state" "/proc/$pid/cmdline"
}

start() {
  if ! running; then
    stop
    # Members of the group "docker" may use the socket.
    mkdir -p -m 711 "$state"
    setsid dockerd --bridge=none --iptables=false --ip6tables=false --ip-masq=false --ip-forward=false \
      --data-root "$state/data" --exec-root "$state/exec" --pidfile "$state/pid" --host "$socket" \
      >"$state/log" 2>&1 </dev/null &
  fi
  for _ in $(seq 150); do
    docker version >/dev/null 2>&1 && break
    sleep 0.1
  done
  docker version >/dev/null 2>&1 || { tail -n 20 "$state/log" >&2; exit 1; }
  docker image inspect "$image" >/dev/null 2>&1 || files | pack | docker import - "$image" >/dev/null
  echo "export FORGE_TEST_DOCKER_HOST=$socket FORGE_TEST_DOCKER_IMAGE=$image"
}

# The programs of a small Debian and the libraries that they load, one real file each.
files() {
  local own
  own="$(dpkg -L dash bash coreutils findutils grep sed perl-base util-linux git base-files libc-bin \
    | grep -Ev '^/(usr/share/(doc|man|locale|lintian|bash-completion)|var|etc)(/|$)' | sort -u \
    | while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done)"
  echo "$own"
  grep -E '/s?bin/|/git-core/|\.so' <<<"$own" | { xargs ldd 2>/dev/null || true; } \
    | sed -nE 's#^[^/]*(/[^ ]+) \(0x.*$#\1#p' | sort -u
}

# A tar of them with the directories and links of a merged /usr.
pack() {
  rm -rf "$state/root"
  mkdir -p "$state/root"/{usr/bin,usr/sbin,usr/lib,usr/lib64,etc,tmp,proc,sys,dev,var,root}
  # runc gives a tmpfs the mode of the directory below it.
  chmod 1777 "$state/root/tmp"
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$state/root/$name"; done
  sed -E 's#^/(bin|sbin|lib|lib64)/#/usr/\1/#; s#^/##' | sort -u \
    | tar -C / --dereference -cf - --files-from - | tar -C "$state/root" -xf -
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$state/root/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$state/root/etc/group"
  tar -C "$state/root" -cf - .
  rm -rf "$state/root"
}

# Numbers of the daemon and of the parts that it started, also where the daemon itself was killed.
parts() {
  local process
  for process in /proc/[0-9]*; do
    case "$(cat "$process/comm" 2>/dev/null)" in
      dockerd | containerd | containerd-shim*)
        if grep -qa -- "$state/" "$process/cmdline" 2>/dev/null; then echo "${process#/proc/}"; fi ;;
    esac
  done
}

# Whether all of them have ended within 20 s.
ended() {
  for _ in $(seq 200); do
    [ -n "$(parts)" ] || return 0
    sleep 0.1
  done
  return 1
}

# The daemon leaves the network namespace of containers without one mounted, and, killed, its own data directory too.
unmount() {
  local point
  cut -d' ' -f5 /proc/self/mountinfo | { grep -F -- "$state/" || true; } | sort -r | while read -r point; do
    umount --lazy "$point"
  done
}

stop() {
  if running; then
    kill "$(cat "$state/pid")"
    ended || true
  fi
  local pid
  # A container's first process is its shim's child, and its end is the end of all others in there.
  for pid in $(parts); do
    xargs -r kill -KILL <"/proc/$pid/task/$pid/children" 2>/dev/null || true
    kill -KILL "$pid" 2>/dev/null || true
  done
  ended || { echo "$0: of the engine these processes do not end: $(parts | xargs)" >&2; exit 1; }
  unmount
  rm -rf "$state"
}

case "${1:-}" in
  start) start ;;
  stop) stop ;;
  *) echo "usage: $0 start|stop" >&2; exit 2 ;;
esac
