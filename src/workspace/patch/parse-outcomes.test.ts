import {expect, test} from 'vitest';
import {describeParsed} from '../../../test/support/describe-parsed.ts';
import {parsePatch} from './parse-patch.ts';

type Case = readonly [name: string, patch: string, outcome: readonly string[]];

test.each<Case>(
  // biome-ignore format: a case is a line
  [
    ['nothing', '', ['1: the patch is empty']],
    ['blanks', ' \n\n', ['1: the patch is empty']],
    ['a blank line before a blank', ' \n \n', ['1: the patch is empty']],
    ['prose', 'please change the file', ['1: the text is not a unified diff']],
    ['an ed script', '1d\n.\nw\n', ['1: this is an ed script; only unified diffs are applied']],
    ['an ed script with a range', '1,3c\nx\n.\n', ['1: this is an ed script; only unified diffs are applied']],
    ['an ed script that appends', '$a\nx\n.\n', ['1: this is an ed script; only unified diffs are applied']],
    ['an ed substitution', '1,2s/a/b/\n', ['1: this is an ed script; only unified diffs are applied']],
    ['an ed command alone', 'a\n', ['1: this is an ed script; only unified diffs are applied']],
    ['an ed script that runs a command', '--- a/x\n+++ b/x\n0a\n!touch y\n.\nw\n', ['1: the section has no hunks, so it changes nothing', '3: this is an ed script; only unified diffs are applied']],
    ['a normal diff', '2c2\n< a\n---\n> b\n', ['1: this is a normal diff; only unified diffs are applied']],
    ['a normal diff with ranges', '2,3d1\n< a\n< b\n', ['1: this is a normal diff; only unified diffs are applied']],
    ['a normal diff with a range behind', '0a1,2\n> a\n> b\n', ['1: this is a normal diff; only unified diffs are applied']],
    ['no normal diff', 'x2c2\n', ['1: the text is not a unified diff']],
    ['no normal diff either', '2c2x\n', ['1: the text is not a unified diff']],
    ['a context diff', '*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n', ['1: this is a context diff; only unified diffs are applied']],
    ['stars', '***************\n', ['1: this is a context diff; only unified diffs are applied']],
    ['fewer stars', '**************\n', ['1: the text is not a unified diff']],
    ['the format of another tool without its beginning', '*** Update File: x\n@@\n-a\n+b\n', ['1: this form needs a "*** Begin Patch" line before it and an "*** End Patch" line behind it; only unified diffs are applied']],
    ['its beginning indented', ' *** Begin Patch\n*** End Patch\n', ['1: the text is not a unified diff']],
    ['its beginning in other words', '*** Begin Patches\n*** Delete File: x\n*** End Patch\n', ['1: this form needs a "*** Begin Patch" line before it and an "*** End Patch" line behind it; only unified diffs are applied']],
    ['conflict markers', '<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n', ['1: these are conflict or search-and-replace markers; only unified diffs are applied']],
    ['the end of a conflict', '>>>>>>> theirs\n', ['1: these are conflict or search-and-replace markers; only unified diffs are applied']],
    ['half a marker', '<<<<<<\n', ['1: the text is not a unified diff']],
    ['a git binary patch', 'diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo\n\n', ['3: binary patches are not applied; only text diffs are', '4: "literal 1" belongs to no hunk; context lines begin with a blank']],
    ['a git binary patch without an index', 'diff --git a/x b/x\nGIT binary patch\nliteral 1\n', ['2: binary patches are not applied; only text diffs are', '3: "literal 1" belongs to no hunk; context lines begin with a blank']],
    ['a binary notice', 'diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n', ['3: binary patches are not applied; only text diffs are']],
    ['a binary notice of diff', 'Files a/x and b/x differ\n', ['1: binary patches are not applied; only text diffs are']],
    ['a bare binary notice', 'Binary files a/x and b/x differ\n', ['1: binary patches are not applied; only text diffs are']],
    ['no binary notice', 'Binary files a/x and b/x differ.\n', ['1: the text is not a unified diff']],
    ['no binary notice either', 'The Binary files a/x and b/x differ\n', ['1: the text is not a unified diff']],
    ['binary words alone', 'GIT binary patch\n', ['1: binary patches are not applied; only text diffs are']],
    ['a symbolic link', 'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n', ['2: mode 120000 is a symbolic link; only regular files are patched']],
    ['a change of a symbolic link', 'diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+b\n', ['2: mode 120000 is a symbolic link; only regular files are patched']],
    ['a submodule', 'diff --git a/s b/s\nnew file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject commit 1\n', ['2: mode 160000 is a submodule; only regular files are patched']],
    ['another mode', 'diff --git a/x b/x\nold mode 100644\nnew mode 104755\n', ['3: mode "104755" is refused; only 100644 and 100755 can be set']],
    ['another mode before', 'diff --git a/x b/x\nold mode 100600\nnew mode 100755\n', ['2: mode "100600" is refused; only 100644 and 100755 can be set']],
    ['a deletion of a link', 'diff --git a/x b/x\ndeleted file mode 120000\n', ['2: mode 120000 is a symbolic link; only regular files are patched']],
    ['an executable file that loses its bit', 'diff --git a/x b/x\nold mode 100755\nnew mode 100644\n', ['1 modify x -x']],
    ['one that gets it', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n', ['1 modify x x']],
    ['half a mode', 'diff --git a/x b/x\nold mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "old mode" and "new mode" go together']],
    ['the other half', 'diff --git a/x b/x\nnew mode 100755\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "old mode" and "new mode" go together']],
    ['an index with a mode', 'diff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '5 @1 -a\n|+b\n']],
    ['an index of a merge', 'diff --git a/x b/x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '5 @1 -a\n|+b\n']],
    ['an index that is none', 'diff --git a/x b/x\nindex xyz\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: the section has no hunks, so it changes nothing', '2: "index xyz" belongs to no hunk; context lines begin with a blank']],
    ['a similarity', 'diff --git a/x b/x\nsimilarity index 90%\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '5 @1 -a\n|+b\n']],
    ['a dissimilarity', 'diff --git a/x b/x\ndissimilarity index 90%\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '5 @1 -a\n|+b\n']],
    [
      'a similarity in the middle of a line',
      'diff --git a/x b/x\nno similarity index 90%\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      [
        '1: the section has no hunks, so it changes nothing',
        '2: "no similarity index 90%" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    ['a copy', 'diff --git a/x b/y\ncopy from x\ncopy to y\n', ['2: copies are not applied; create the file with its whole content instead', '3: copies are not applied; create the file with its whole content instead']],
    [
      'a mode in the middle of a line',
      'diff --git a/x b/x\n old mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      [
        '1: the section has no hunks, so it changes nothing',
        '2: " old mode 100644" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    ['NUL in a name', '--- a/x\u0000y\n+++ b/x\u0000y\n@@ -1 +1 @@\n-a\n+b\n', ['1: the file name contains a NUL character', '2: the file name contains a NUL character']],
    ['quoted NUL in a name', '--- "a/x\\000y"\n+++ "b/x\\000y"\n@@ -1 +1 @@\n-a\n+b\n', ['1: the file name contains a NUL character', '2: the file name contains a NUL character']],
    ['a name that is not UTF-8', '--- "a/\\377"\n+++ "b/\\377"\n@@ -1 +1 @@\n-a\n+b\n', ['1: the file name is not UTF-8', '2: the file name is not UTF-8']],
    ['a malformed quoted name', '--- "a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: the quoted file name is malformed']],
    ['a malformed quoted name behind', '--- a/x\n+++ "b/x\\q"\n@@ -1 +1 @@\n-a\n+b\n', ['2: the quoted file name is malformed']],
    ['a quoted name that ends in an escape', '--- "a/x\\\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: the quoted file name is malformed']],
    ['an empty name', '--- \n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: the file name is missing']],
    ['an empty name behind', '--- a/x\n+++ \n@@ -1 +1 @@\n-a\n+b\n', ['2: the file name is missing']],
    ['an octal escape with two digits', '--- "a/\\12"\n+++ "b/\\12"\n@@ -1 +1 @@\n-a\n+b\n', ['1: the quoted file name is malformed', '2: the quoted file name is malformed']],
    ['an octal escape that is too large', '--- "a/\\400"\n+++ "b/\\400"\n@@ -1 +1 @@\n-a\n+b\n', ['1: the quoted file name is malformed', '2: the quoted file name is malformed']],
    ['every escape', '--- "a/\\a\\b\\f\\n\\r\\t\\v\\\\\\"\\101"\n+++ "b/\\a\\b\\f\\n\\r\\t\\v\\\\\\"\\101"\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify \u0007\b\f\n\r\t\u000b\\"A', '3 @1 -a\n|+b\n']],
    ['a quoted name with a time stamp', '--- "a/x"\t2024-01-01 00:00:00\n+++ "b/x"\t2024-01-01 00:00:00\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['names without prefix', '--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "src/x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['one name of a file without prefix', '--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['a prefix on one side', '--- a/x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['a prefix on the other side', '--- x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['the prefix a/', '--- a/d/x\n+++ a/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['the prefix b/', '--- b/d/x\n+++ b/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['the prefix c/', '--- c/d/x\n+++ c/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['the prefix i/', '--- i/d/x\n+++ i/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['the prefix o/', '--- o/d/x\n+++ o/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['the prefix w/', '--- w/d/x\n+++ w/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['the prefix 1/', '--- 1/d/x\n+++ 1/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['the prefix 2/', '--- 2/d/x\n+++ 2/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['no prefix of git', '--- d/x\n+++ d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "d/x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['two different directories', '--- old/d/x\n+++ new/d/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/x', '3 @1 -a\n|+b\n']],
    ['two different directories, other files', '--- old/x\n+++ new/y\n@@ -1 +1 @@\n-a\n+b\n', ['1: "old/x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['directories of which one begins like the other', '--- ab/x\n+++ abc/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['a directory that nothing else has', '--- /dev/null\n+++ new/x\n@@ -0,0 +1 @@\n+b\n', ['1: "new/x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['an absolute name', '--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify /etc/x', '3 @1 -a\n|+b\n']],
    ['a name that leaves', '--- ../x\n+++ ../x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify ../x', '3 @1 -a\n|+b\n']],
    ['a name that leaves later', '--- d/../x\n+++ d/../x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify d/../x', '3 @1 -a\n|+b\n']],
    ['dots that do not leave', '--- d/..x\n+++ d/..x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "d/..x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['two names without a rename', '--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1: the old name "x" and the new name "y" differ; a rename needs "rename from" and "rename to" lines after a "diff --git" line']],
    ['no file at all', '--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n', ['1: both names are /dev/null']],
    ['no path', '--- a/\n+++ b/\n@@ -1 +1 @@\n-a\n+b\n', ['1: the path is empty']],
    ['no path of a new file', '--- /dev/null\n+++ b/\n@@ -0,0 +1 @@\n+x\n', ['1: the path is empty']],
    ['the null device with a time stamp', '--- /dev/null\t2024-01-01 00:00:00\n+++ b/x\n@@ -0,0 +1 @@\n+x\n', ['1 create x -x', '3 @0 +x\n']],
    ['the first second of 1970: 1970-01-01 00:00:00', '--- a/x\t1970-01-01 00:00:00\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 create x -x', '3 @0 +x\n']],
    ['the first second of 1970: 1970-01-01 00:00:00.000000000 +0000', '--- a/x\t1970-01-01 00:00:00.000000000 +0000\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 create x -x', '3 @0 +x\n']],
    ['the first second of 1970: 1970-01-01 01:00:00 +0100', '--- a/x\t1970-01-01 01:00:00 +0100\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 create x -x', '3 @0 +x\n']],
    ['the first second of 1970: 1969-12-31 19:30:00 -0430', '--- a/x\t1969-12-31 19:30:00 -0430\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 create x -x', '3 @0 +x\n']],
    ['the first second of 1970:  1970-01-01 00:00:00 +0000 ', '--- a/x\t 1970-01-01 00:00:00 +0000 \n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 create x -x', '3 @0 +x\n']],
    ['another time: 1970-01-01 00:00:01 +0000', '--- a/x\t1970-01-01 00:00:01 +0000\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 modify x', '3 @0 +x\n']],
    ['another time: 1970-01-01 00:00:00.5 +0000', '--- a/x\t1970-01-01 00:00:00.5 +0000\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 modify x', '3 @0 +x\n']],
    ['another time: 1970-01-01 00:00:00 +0000 x', '--- a/x\t1970-01-01 00:00:00 +0000 x\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 modify x', '3 @0 +x\n']],
    ['another time: x 1970-01-01 00:00:00', '--- a/x\tx 1970-01-01 00:00:00\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 modify x', '3 @0 +x\n']],
    ['another time: 1970-01-01', '--- a/x\t1970-01-01\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 modify x', '3 @0 +x\n']],
    ['another time: 1970-01-01 00:00:00 +01', '--- a/x\t1970-01-01 00:00:00 +01\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n', ['1 modify x', '3 @0 +x\n']],
    ['the first second of 1970 before lines that were there', '--- a/x\t1970-01-01 00:00:00 +0000\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['the first second of 1970 behind', '--- a/x\t2024-01-01 00:00:00\n+++ b/x\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-x\n', ['1 delete x', '3 @1 -x\n']],
    ['the first second of 1970 behind, before lines that stay', '--- a/x\t2024-01-01 00:00:00\n+++ b/x\t1970-01-01 00:00:00 +0000\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['a git line about another file', 'diff --git a/x b/x\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1: the "diff --git" line and the other header lines name different files']],
    ['a git line about another new file', 'diff --git a/x b/y\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: the "diff --git" line and the other header lines name different files']],
    ['a git line about another created file', 'diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+x\n', ['1: the "diff --git" line and the other header lines name different files']],
    ['a git line about another deleted file', 'diff --git a/x b/x\ndeleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n', ['1: the "diff --git" line and the other header lines name different files']],
    ['blanks in names on the git line', 'diff --git a/two words b/two words\nold mode 100644\nnew mode 100755\n', ['1 modify two words x']],
    ['blanks that split in two ways', 'diff --git a/x b/y b/x b/y\nold mode 100644\nnew mode 100755\n', ['1 modify x b/y x']],
    ['names that cannot be told apart', 'diff --git a/x b/y b/z b/w\nold mode 100644\nnew mode 100755\n', ['1: the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"']],
    ['quoted names on the git line', 'diff --git "a/\\303\\244" "b/\\303\\244"\nold mode 100644\nnew mode 100755\n', ['1 modify ä x']],
    ['one quoted name on the git line', 'diff --git "a/x" b/x\nold mode 100644\nnew mode 100755\n', ['1 modify x x']],
    ['a quoted name that does not end', 'diff --git "a/x b/x\nold mode 100644\nnew mode 100755\n', ['1: the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"']],
    ['no prefix on the git line', 'diff --git x x\nold mode 100644\nnew mode 100755\n', ['1: the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"']],
    ['a prefix on one side of the git line', 'diff --git a/x x\nold mode 100644\nnew mode 100755\n', ['1: the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"']],
    ['a prefix on the other side of the git line', 'diff --git x b/x\nold mode 100644\nnew mode 100755\n', ['1: the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"']],
    ['a git line without anything', 'diff --git a/x b/x\n', ['1: the section has no hunks, so it changes nothing']],
    ['a git line with hunks alone', 'diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: hunks need a "--- a/PATH" and a "+++ b/PATH" line before them']],
    ['a rename', 'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n', ['1 rename x => y']],
    ['a rename in old words', 'diff --git a/x b/y\nrename old x\nrename new y\n', ['1 rename x => y']],
    ['a rename with a change', 'diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1 rename x => y', '6 @1 -a\n|+b\n']],
    ['a rename with quoted names', 'diff --git "a/\\tx" "b/\\ty"\nrename from "\\tx"\nrename to "\\ty"\n', ['1 rename \tx => \ty']],
    ['a rename with something behind its quoted name', 'diff --git a/x b/y\nrename from "x"z\nrename to y\n', ['2: the quoted file name is malformed']],
    ['a rename without a name', 'diff --git a/x b/y\nrename from \nrename to y\n', ['2: the file name is missing']],
    ['rename lines about another file', 'diff --git a/x b/y\nrename from x\nrename to z\n', ['1: the "diff --git" line and the other header lines name different files']],
    ['rename lines about another old file', 'diff --git a/x b/y\nrename from z\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['4: these are not the names of the rename before; give each file a "diff --git a/PATH b/PATH" line']],
    ['a rename to itself', 'diff --git a/x b/x\nrename from x\nrename to x\n', ['1: the "rename" lines and the other header lines name different files, or one file twice']],
    ['half a rename', 'diff --git a/x b/y\nrename from x\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1: "rename from" and "rename to" go together']],
    ['the other half of a rename', 'diff --git a/x b/y\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1: "rename from" and "rename to" go together']],
    ['half a rename without hunks', 'diff --git a/x b/y\nrename from x\n', ['1: "rename from" and "rename to" go together']],
    [
      'two renames in one section',
      'diff --git a/x b/y\nrename from x\nrename to y\nrename from z\nrename to w\n',
      [
        '4: a second rename needs a "diff --git a/OLD b/NEW" line of its own before it',
        '5: a second rename needs a "diff --git a/OLD b/NEW" line of its own before it',
      ],
    ],
    ['a rename without a git line', 'rename from x\nrename to y\n', ['1: a rename needs a "diff --git a/OLD b/NEW" line of its own before it']],
    ['half a rename without a git line', 'rename from x\nx\n', ['1: the text is not a unified diff']],
    ['a rename of nothing', 'rename from \nrename to y\n', ['1: the text is not a unified diff']],
    [
      'a rename before the names of another file',
      'diff --git a/x b/y\nrename from x\nrename to y\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n',
      ['4: these are not the names of the rename before; give each file a "diff --git a/PATH b/PATH" line'],
    ],
    ['a rename before its own names without prefix', 'diff --git a/x b/y\nrename from x\nrename to y\n--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n', ['1: "x" has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1']],
    ['a rename before the null device', 'diff --git a/x b/y\nrename from x\nrename to y\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+b\n', ['1: the "diff --git" line and the other header lines name different files']],
    ['a git line of two names without rename', 'diff --git a/x b/y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1: the old name "x" and the new name "y" differ; a rename needs "rename from" and "rename to" lines after a "diff --git" line']],
    ['a new file under a rename', 'diff --git a/x b/y\nnew file mode 100644\nrename from x\nrename to y\n', ['1: "new file mode" needs "--- /dev/null"']],
    ['a new file', 'diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n', ['1 create x -x', '5 @0 +b\n']],
    ['a new executable file', 'diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n', ['1 create x x', '5 @0 +b\n']],
    ['an empty new file', 'diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n', ['1 create x -x']],
    ['an empty deleted file', 'diff --git a/x b/x\ndeleted file mode 100644\n', ['1 delete x']],
    ['a new file that is there', 'diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "new file mode" needs "--- /dev/null"']],
    ['a deleted file that is there', 'diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1: "deleted file mode" needs "+++ /dev/null"']],
    ['context in a new file', '--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n a\n+b\n', ['1: a new file has one hunk, and only "+" lines in it']],
    ['two hunks in a new file', '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n@@ -0,0 +2 @@\n+b\n', ['1: a new file has one hunk, and only "+" lines in it']],
    ['additions in a deletion', '--- a/x\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n', ['1: a deletion has one hunk with the whole file as "-" lines, and nothing else in it']],
    ['two hunks in a deletion', '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n@@ -2 +0,0 @@\n-b\n', ['1: a deletion has one hunk with the whole file as "-" lines, and nothing else in it']],
    ['a deletion', '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', ['1 delete x', '3 @1 -a\n']],
    ['no hunks', '--- a/x\n+++ b/x\n', ['1: the section has no hunks, so it changes nothing']],
    ['a hunk without names', '@@ -1 +1 @@\n-a\n+b\n', ['1: a hunk needs a "--- a/PATH" and a "+++ b/PATH" line before it']],
    ['a hunk without names behind prose', 'so:\n@@ -1 +1 @@\n-a\n+b\n', ['2: a hunk needs a "--- a/PATH" and a "+++ b/PATH" line before it']],
    ['the hunk header @@ -1,2 @@', '--- a/x\n+++ b/x\n@@ -1,2 @@\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ -1 +1 @', '--- a/x\n+++ b/x\n@@ -1 +1 @\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ -1 +1', '--- a/x\n+++ b/x\n@@ -1 +1\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ -a +1 @@', '--- a/x\n+++ b/x\n@@ -a +1 @@\n-a\n+b\n', ['1 modify x', '3 @* -a\n|+b\n']],
    ['the hunk header @@@ -1 -1 +1 @@@', '--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ -1234567890 +1 @@', '--- a/x\n+++ b/x\n@@ -1234567890 +1 @@\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ -1,1234567890 +1 @@', '--- a/x\n+++ b/x\n@@ -1,1234567890 +1 @@\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ -1 +1234567890 @@', '--- a/x\n+++ b/x\n@@ -1 +1234567890 @@\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ -1 +1,1234567890 @@', '--- a/x\n+++ b/x\n@@ -1 +1,1234567890 @@\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header x@@ -1 +1 @@', '--- a/x\n+++ b/x\nx@@ -1 +1 @@\n-a\n+b\n', ['1: the section has no hunks, so it changes nothing', '3: "x@@ -1 +1 @@" belongs to no hunk; context lines begin with a blank']],
    ['the hunk header @@  -1 +1 @@', '--- a/x\n+++ b/x\n@@  -1 +1 @@\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the hunk header @@ - 1 +1 @@', '--- a/x\n+++ b/x\n@@ - 1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @* -a\n|+b\n']],
    ['the header @@', '--- a/x\n+++ b/x\n@@\n-a\n+b\n', ['1 modify x', '3 @* -a\n|+b\n']],
    ['the header @@ ', '--- a/x\n+++ b/x\n@@ \n-a\n+b\n', ['1 modify x', '3 @* -a\n|+b\n']],
    ['the header @@ ... @@', '--- a/x\n+++ b/x\n@@ ... @@\n-a\n+b\n', ['1 modify x', '3 @* -a\n|+b\n']],
    ['the header @@ def f():', '--- a/x\n+++ b/x\n@@ def f():\n-a\n+b\n', ['1 modify x', '3 @* -a\n|+b\n']],
    ['the header @@ - x', '--- a/x\n+++ b/x\n@@ - x\n-a\n+b\n', ['1 modify x', '3 @* -a\n|+b\n']],
    ['the header @@x', '--- a/x\n+++ b/x\n@@x\n-a\n+b\n', ['3: the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"']],
    ['the header @@ -1 +1 @@ def f()', '--- a/x\n+++ b/x\n@@ -1 +1 @@ def f()\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['the header @@ -123456789,1 +123456789,1 @@', '--- a/x\n+++ b/x\n@@ -123456789,1 +123456789,1 @@\n-a\n+b\n', ['1 modify x', '3 @123456789 -a\n|+b\n']],
    ['a hunk that changes nothing', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n', ['3: the hunk has no "-" and no "+" line, so it changes nothing; leave it out']],
    ['a hunk that changes nothing, without numbers', '--- a/x\n+++ b/x\n@@\n a\n', ['3: the hunk has no "-" and no "+" line, so it changes nothing; leave it out']],
    ['an empty hunk', '--- a/x\n+++ b/x\n@@ -1,0 +1,0 @@\n', ['3: the hunk has no "-" and no "+" line, so it changes nothing; leave it out']],
    [
      'a context line without its blank',
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\nb\n-c\n+d\n',
      [
        '5: a hunk line begins with " ", "-" or "+" (a context line with a blank), this one does not; also, the line counts of the hunk header are wrong',
        '5: "b" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    ['a context line without its blank, and right counts up to it', '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-c\n+d\nb\n', ['7: "b" belongs to no hunk; context lines begin with a blank']],
    ['an empty context line', '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-c\n+d\n', ['1 modify x', '3 @1  a\n| \n|-c\n|+d\n']],
    [
      'a long text behind a hunk',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n😀€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€\n',
      [
        '6: "😀€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€…" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    [
      '80 characters behind a hunk',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n',
      [
        '6: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    [
      '81 characters behind a hunk',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n',
      [
        '6: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    [
      '80 characters of four bytes behind a hunk',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀\n',
      [
        '6: "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    [
      '320 bytes behind a hunk',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\néééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé\n',
      [
        '6: "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    ['what is not UTF-8 behind a hunk', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nThanks!\n', ['6: "Thanks!" belongs to no hunk; context lines begin with a blank']],
    ['text behind a hunk', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nThanks!\n', ['6: "Thanks!" belongs to no hunk; context lines begin with a blank']],
    [
      'two texts behind a hunk',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nThanks!\nBye\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nNo\n',
      [
        '6: "Thanks!" belongs to no hunk; context lines begin with a blank',
        '13: "No" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    [
      '--- without +++',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n--- a/y\n@@ -1 +1 @@\n-a\n+b\n',
      [
        '7: the line counts of the hunk header are wrong, and this may be content or the header of another file; correct the counts, or write the header with a/ and b/',
      ],
    ],
    ['--- without +++ at the beginning', 'diff --git a/x b/x\n--- a/x\n@@ -1 +1 @@\n-a\n+b\n', ['2: a "---" line must be followed by a "+++" line']],
    ['counts that are too small', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n-b\n+c\n d\n', ['1 modify x', '3 @1  a\n|-b\n|+c\n| d\n', 'recounted 1']],
    ['counts that are too large', '--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b\n+c\n', ['1 modify x', '3 @1  a\n|-b\n|+c\n', 'recounted 1']],
    ['an old count alone', '--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n-b\n+c\n', ['1 modify x', '3 @1 -a\n|-b\n|+c\n']],
    ['a new count alone', '--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n', ['1 modify x', '3 @1 -a\n|+b\n|+c\n']],
    ['an old count that is too small', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n+c\n', ['1 modify x', '3 @1 -a\n|-b\n|+c\n', 'recounted 1']],
    ['a new count that is too small', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n', ['1 modify x', '3 @1 -a\n|+b\n|+c\n', 'recounted 1']],
    ['counts that reach into the next file', '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n', '6 modify y', '8 @1 -a\n|+b\n', 'recounted 1']],
    ['counts that reach into the next file of git', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '4 @1 -a\n|+b\n|--- a/y\n|+++ b/y\n', '9 @1 -a\n|+b\n']],
    ['an addition with a count of none', '--- a/x\n+++ b/x\n@@ -5,0 +6 @@\n+a\n', ['1 modify x', '3 @5 +a\n']],
    ['an addition that says it replaces lines', '--- a/x\n+++ b/x\n@@ -5,3 +5,4 @@\n+a\n', ['1 modify x', '3 @? +a\n', 'recounted 1']],
    ['content that looks like a header', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a/y\n+++ b/y\n', ['1 modify x', '3 @1 --- a/y\n|+++ b/y\n']],
    [
      'a header that may be content',
      '--- a/x\n+++ b/x\n@@ -1,7 +1,7 @@\n-a\n+b\n--- y.sql\n+++ z.sql\n@@ -9 +9 @@\n-c\n+d\n',
      [
        '6: the line counts of the hunk header are wrong, and this may be content or the header of another file; correct the counts, or write the header with a/ and b/',
      ],
    ],
    [
      'half a header that may be content',
      '--- a/x\n+++ b/x\n@@ -1,7 +1,7 @@\n-a\n--- a/y\n@@ -9 +9 @@\n-c\n+d\n',
      [
        '5: the line counts of the hunk header are wrong, and this may be content or the header of another file; correct the counts, or write the header with a/ and b/',
      ],
    ],
    ['the end of a mail', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\nwords', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['the end of a mail with wrong counts', '--- a/x\n+++ b/x\n@@ -1,7 +1,7 @@\n-a\n+b\n-- \n2.39.5\n', ['1 modify x', '3 @1 -a\n|+b\n', 'recounted 1']],
    ['what looks like the end of a mail', '--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n-- \n+b\n', ['1 modify x', '3 @1 -a\n|-- \n|+b\n']],
    [
      'the end of a mail without a version',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \nAnna\n',
      [
        '7: a hunk line begins with " ", "-" or "+" (a context line with a blank), this one does not; also, the line counts of the hunk header are wrong',
        '7: "Anna" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    ['the version of a mail on Windows', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5.windows.1 (x-y)\nwords', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['blank lines around hunks', '\n\n--- a/x\n+++ b/x\n\n@@ -1 +1 @@\n-a\n+b\n\n\n@@ -9 +9 @@\n-c\n+d\n\n', ['3 modify x', '6 @1 -a\n|+b\n', '11 @9 -c\n|+d\n']],
    ['a last line without newline', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['no newline on both sides', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n', ['1 modify x', '3 @1 -a|+b']],
    ['no newline of a context line', '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n', ['1 modify x', '3 @1 -a\n|+b\n| c']],
    ['no newline, said twice', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n\\ No newline at end of file\n', ['7: "\\ No newline at end of file" must follow the line it is about']],
    ['no newline before any line', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n', ['4: "\\ No newline at end of file" must follow the line it is about']],
    ['a line behind the last', '--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+c\n', ['6: a line follows the one that "\\ No newline at end of file" calls the last']],
    ['an added line behind the last', '--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n', ['7: a line follows the one that "\\ No newline at end of file" calls the last']],
    ['a context line behind the last', '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n c\n', ['7: a line follows the one that "\\ No newline at end of file" calls the last']],
    ['a removed line behind the last added one', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n+b\n\\ No newline at end of file\n-a\n', ['1 modify x', '3 @1 +b|-a\n']],
    [
      'a backslash without a blank',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\No newline\n+b\n',
      [
        '5: a hunk line begins with " ", "-" or "+" (a context line with a blank), this one does not; also, the line counts of the hunk header are wrong',
        '5: "\\\\No newline" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    ['no newline with wrong counts', '--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n-a\n+b\n\\ No newline at end of file\n', ['1 modify x', '3 @1 -a\n|+b', 'recounted 1']],
    ['a fence', '```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\nThat is all.\n', ['2 modify x', '4 @1 -a\n|+b\n']],
    ['a fence of tildes', '~~~\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n~~~\nThat is all.\n', ['2 modify x', '4 @1 -a\n|+b\n']],
    ['a fence in a hunk with wrong counts', '```diff\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n```\n', ['2 modify x', '4 @1 -a\n|+b\n', 'recounted 1']],
    ['words before', 'Here:\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['2 modify x', '4 @1 -a\n|+b\n']],
    ['the line of diff -r', 'diff -ru old/x new/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['2 modify x', '4 @1 -a\n|+b\n']],
    ['an Index line', 'Index: x\n===================================================================\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['3 modify x', '5 @1 -a\n|+b\n']],
    ['nine equals signs behind a hunk', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n=========\n', ['6: "=========" belongs to no hunk; context lines begin with a blank']],
    ['ten behind a hunk', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n==========\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['Only in, behind a hunk', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nOnly in d: y\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['an index line behind a hunk', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nindex 1234567..2345678\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['half an index line behind a hunk', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nindex 123\n', ['6: "index 123" belongs to no hunk; context lines begin with a blank']],
    ['a byte order mark', '\ufeff--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['CRLF throughout', '--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['CRLF but for one line', '--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n\n', ['1 modify x', '3 @1 -a\r\n|+b\r\n']],
    ['CRLF of the content', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n', ['1 modify x', '3 @1 -a\r\n|+b\r\n']],
    ['CRLF and no newline at the end', '--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b', ['1 modify x', '3 @1 -a\n|+b\n']],
    ['a mail', 'From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: x\n---\n x | 2 +-\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n', ['6 modify x', '8 @1 -a\n|+b\n']],
    ['two mails', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\nFrom 0123456789012345678901234567890123456789 Mon Sep\nwords\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['1 modify x', '3 @1 -a\n|+b\n', '9 modify x', '11 @1 -a\n|+b\n']],
    ['words from a mail that is none', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nFrom 0123 Mon\n', ['6: "From 0123 Mon" belongs to no hunk; context lines begin with a blank']],
    ['a lone surrogate', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+\ud800\n', ['5: the text is not well-formed Unicode']],
    [
      'a rename whose git line can be read in two ways, and another new name behind it',
      'diff --git a/x b/y b/z\nrename from x b/y\nrename to z\n--- a/x b/y\n+++ b/w\n@@ -1 +1 @@\n-a\n+b\n',
      ['1: the "rename" lines and the other header lines name different files, or one file twice'],
    ],
    ['a name to rename from whose quotes do not end', 'diff --git a/x b/y\nrename from "x\nrename to y\n', ['2: the quoted file name is malformed']],
    ['a hunk without counts and lines before the names of the next file', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@\n--- a/y\n+++ b/y\n@@\n-a\n+b\n', ['4: the hunk has no "-" and no "+" line, so it changes nothing; leave it out']],
    ['two lines that look like names, and one with @@ that stays', '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n @@ z\n', ['1 modify x', '3 @1 --- a/y\n|+++ b/y\n| @@ z\n']],
    ['a normal diff of long files', '12,34c56,78\n< a\n', ['1: this is a normal diff; only unified diffs are applied']],
    ['an ed script of a long file', '12,34d\nw\n', ['1: this is an ed script; only unified diffs are applied']],
    ['an ed substitution in a long file', '12,34s/a/b/\n', ['1: this is an ed script; only unified diffs are applied']],
    ['a line that is none of git before names', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\nword a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', ['4: "word a/x" belongs to no hunk; context lines begin with a blank']],
    [
      'an index line with more behind it',
      'diff --git a/x b/x\nindex 0..1 100644 x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      [
        '1: the section has no hunks, so it changes nothing',
        '2: "index 0..1 100644 x" belongs to no hunk; context lines begin with a blank',
      ],
    ],
    ['a last line that looks like a name, behind wrong counts', '--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n--- a/y', ['1 modify x', '3 @1 -a\n|--- a/y\n', 'recounted 1']],
    ...(
    [
      ['--- a/y', '+++ y'],
      ['--- y', '+++ b/y'],
    ] as const
  ).map(
    ([removed, added]): Case => [
      'two lines of which one looks like a name, before another hunk',
      `--- a/x\n+++ b/x\n@@ -1 +1 @@\n${removed}\n${added}\n@@ -5 +5 @@\n-c\n+d\n`,
      ['1 modify x', `3 @1 ${removed}\n|${added}\n`, '6 @5 -c\n|+d\n'],
    ],
  ),
  ],
)('W7: the whole outcome of a unified diff: %s', (_, patch, outcome) => {
  expect(describeParsed(patch)).toEqual(outcome);
});

const SECTION = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';

test.each([
  ...[
    'a diff b',
    'no Index: x',
    '=========',
    '==========x',
    'x==========',
    'Not Only in x',
    'index 012',
    'index 01gf',
  ],
  ...[
    'x12s/a/b/',
    'x <<<<<<<',
    '<<<<<<',
    'x >>>>>>>',
    '>>>>>>',
    'a *** x',
    '***x',
    '**************',
    'x @@ -',
  ],
  ...['x ```', 'x ~~~', `x From ${'0'.repeat(40)} x`, `From ${'0'.repeat(39)} x`],
])('W7: %j behind a section is no hunk of it', line => {
  const reason = `${JSON.stringify(line)} belongs to no hunk; context lines begin with a blank`;
  expect(describeParsed(`${SECTION}${line}\n`)).toEqual([`6: ${reason}`]);
});

test.each([
  '==========',
  '===========',
  'Only in x: y',
  'index 0123',
  'index 0123abc',
  'Index: x',
  'diff -u x y',
])('W7: %j behind a section is what programs write between sections', line => {
  expect(describeParsed(`${SECTION}${line}\n`)).toEqual(describeParsed(SECTION));
});

test('W7: names on a git line are told apart up to the 64th blank', () => {
  const patch = (blanks: number): string => {
    const name = `${'x '.repeat(blanks)}y`;
    return `diff --git a/${name} b/${name}\nold mode 100644\nnew mode 100755\n`;
  };
  expect(describeParsed(patch(63))).toEqual([`1 modify ${'x '.repeat(63)}y x`]);
  expect(describeParsed(patch(64))).toEqual([
    '1: the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"',
  ]);
});

test('W7: a message names five problems, and details fifty', () => {
  const failureOf = (problems: number) => {
    const sections = Array.from({length: problems}, (_, at) => `diff --git a/${at} b/${at}\n`);
    const result = parsePatch(sections.join(''));
    if (result.ok) throw new Error('Expected a failure');
    const {message, details} = result.error;
    return {message, details: {...details, problems: (details['problems'] as unknown[]).length}};
  };
  const reason = 'the section has no hunks, so it changes nothing';
  const named = [1, 2, 3, 4, 5].map(line => `Line ${line}: ${reason}.`).join(' ');
  const advice = 'Nothing was written. Send a plain unified diff.';
  expect(failureOf(5)).toEqual({message: `${named} ${advice}`, details: {line: 1, reason, problems: 5}});
  expect(failureOf(6)).toEqual({
    message: `${named} 1 more in details.problems. ${advice}`,
    details: {line: 1, reason, problems: 6},
  });
  expect(failureOf(51)).toEqual({
    message: `${named} 46 more in details.problems. ${advice}`,
    details: {line: 1, reason, problems: 50},
  });
});

test('W7: a patch of 32 MiB is read, and one byte more is not', () => {
  const names = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+';
  const outcome = (size: number) => describeParsed(names + 'b'.repeat(size - names.length));
  expect(outcome(33_554_432)[0]).toBe('1 modify x');
  expect(outcome(33_554_433)).toEqual([
    '1: the patch has 33554433 bytes; at most 33554432 are applied at once',
  ]);
});
