/** `sh -c JOIN sh COUNT PROCS-FILE... PROGRAM ARG...`: joins control groups, then goes on. */
export const JOIN = `
count=$1; shift
while [ "$count" -gt 0 ]; do
  echo 0 >"$1" || exit 125
  shift; count=$((count - 1))
done
`;
