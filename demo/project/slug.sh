#!/bin/sh
# sh slug.sh TITLE: the title as the last part of an address.
printf '%s\n' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9]/-/g'
