#!/bin/sh
# Compares what slug.sh makes of some titles with what it should make.
failed=0
check() {
  made=$(sh slug.sh "$1")
  if [ "$made" = "$2" ]; then
    echo "ok      $1"
  else
    echo "not ok  $1: expected $2, got $made"
    failed=1
  fi
}
check 'Hello World' hello-world
check 'Bees, wind & water' bees-wind-water
check 'Notes (draft)' notes-draft
exit $failed
