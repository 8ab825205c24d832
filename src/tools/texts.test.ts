import {expect, test} from 'vitest';
import {everyTool} from '../../test/support/every-tool.ts';
import type {Json} from '../core/result.ts';

type Case = readonly [tool: string, data: Json, text: string];

/** What the answers of a tool have in common. */
const RUN = {
  exit_code: 0,
  stdout: '',
  stderr: '',
  stdout_truncated: false,
  stderr_truncated: false,
  stdout_bytes: 0,
  stderr_bytes: 0,
  stdout_path: 'o',
  stderr_path: 'e',
  duration_sec: 1.5,
  sandbox: 'bubblewrap',
  left_running: [],
};
const READ_OUTPUT = {
  step: 2,
  stream: 'stdout',
  total_lines: 1234,
  complete: true,
  start_line: 1,
  end_line: 2,
  truncated: false,
};
const STOP_RUN = {step: 3, was_running: true};
const WAIT_FOR = {step: 1, waited_sec: 1, background: {running: true, duration_sec: 3.14}};
const SEARCH = {matches: [], truncated: false};
const GLOB = {files: [], truncated: false};
const READ_FILE = {truncated: false, start_line: 1};
const REPLACE_IN_FILES = {
  replacements: 3,
  files: [
    {path: 'a', count: 2},
    {path: 'b', count: 1},
  ],
  left_out: [],
  left_out_total: 0,
  not_text: 0,
  unreadable: 0,
  dry_run: false,
};
const WRITE_FILE = {path: 'a', bytes: 1, created: false, changed: true, added: 1, removed: 0, dry_run: false};
const APPLY_PATCH = {
  changed_files: ['a'],
  patch_size_bytes: 9,
  stat: [{path: 'a', added: 1, removed: 2}],
  offsets: [],
  recounted_hunks: 0,
  cross_check: 'agrees',
  dry_run: false,
};

// biome-ignore format: a case is a line
const CASES: readonly Case[] = [
  ['run', RUN, 'exit code 0, 1.5 s, bubblewrap'],
  ['run', {...RUN, exit_code: 3, stdout: 'out\n\n', stderr: 'err\n', sandbox: 'none'}, 'exit code 3, 1.5 s, NO sandbox\nstdout:\nout\nstderr:\nerr'],
  ['run', {...RUN, stdout: 'out\n', stdout_truncated: true, stdout_bytes: 1234567}, 'exit code 0, 1.5 s, bubblewrap\nstdout (cut; 1234567 bytes):\nout'],
  ['run', {...RUN, stderr: 'err\n', stderr_truncated: true, stderr_bytes: 99, sandbox: 'docker'}, 'exit code 0, 1.5 s, docker\nstderr (cut; 99 bytes):\nerr'],
  ['run', {...RUN, stdout: 'a\na\nb\nb\nb\n\n\n\n\nc\nc\nc\nc\n'}, 'exit code 0, 1.5 s, bubblewrap\nstdout:\na\na\nb\n[the same 2 more times]\n\n\n\n\nc\n[the same 3 more times]'],
  ['run', {...RUN, left_running: ['sleep 1', 'cat'], repositories: ['a', 'b/c'], repositories_complete: false, note: 'a note'}, 'exit code 0, 1.5 s, bubblewrap\ngit repositories have appeared in: a, b/c\nThe tree is too large to look for all git repositories that have appeared.\na note\nkilled at its end: sleep 1, cat'],
  ['run', {...RUN, repositories: []}, 'exit code 0, 1.5 s, bubblewrap\ngit repositories have appeared in: '],
  ['run', {...RUN, exit_code: null, background: {step: 4, max_life_sec: 60}}, 'Runs in the background as step 4 (bubblewrap, for 60 s at most). read_output step=4 shows what it writes, wait_for step=4 waits for it, stop_run step=4 ends it.'],
  ['read_output', {...READ_OUTPUT, content: 'a\nb\n'}, '[stdout of step 2: lines 1-2 of 1,234]\na\nb\n'],
  ['read_output', {...READ_OUTPUT, total_lines: 0, end_line: 0, content: ''}, '[stdout of step 2: empty]'],
  ['read_output', {...READ_OUTPUT, stream: 'stderr', complete: false, content: 'a\n', next: {start_line: 3}}, '[stderr of step 2: lines 1-2 of 1,234; not all of it was kept; next: start_line=3]\na\n'],
  ['read_output', {...READ_OUTPUT, content: 'a\n', background: {running: true, duration_sec: 3.14}, unseen: 1}, '[stdout of step 2: running for 3.1 s; lines 1-2 of 1,234; stream=stderr has 1 unseen line]\na\n'],
  ['read_output', {...READ_OUTPUT, stream: 'stderr', content: 'a\n', background: {running: true, duration_sec: 3.14}, unseen: 2345}, '[stderr of step 2: running for 3.1 s; lines 1-2 of 1,234; stream=stdout has 2,345 unseen lines]\na\n'],
  ['read_output', {...READ_OUTPUT, start_line: 3, content: '', background: {running: true, duration_sec: 3.14}}, '[stdout of step 2: running for 3.1 s; nothing new after line 2]'],
  ['read_output', {...READ_OUTPUT, start_line: 3, content: '', background: {running: false, duration_sec: 2, ended: 'exited', exit_code: 1, repositories: ['r'], left_running: ['sleep']}}, '[stdout of step 2: ended with exit code 1 after 2 s; nothing new after line 2; git repositories have appeared in: r; killed at its end: sleep]'],
  ['read_output', {...READ_OUTPUT, start_line: 2, content: 'a\n', background: {running: true, duration_sec: 3.14}}, '[stdout of step 2: running for 3.1 s; lines 2-2 of 1,234]\na\n'],
  ['read_output', {...READ_OUTPUT, start_line: 3, content: 'a\n'}, '[stdout of step 2: lines 3-2 of 1,234]\na\n'],
  ['read_output', {...READ_OUTPUT, matches: [], total_matches: 0}, '[stdout of step 2: 0 matches in 1,234 lines]'],
  ['read_output', {...READ_OUTPUT, matches: [{line: 3, content: 'x', context_before: [], context_after: []}], total_matches: 1}, '[stdout of step 2: 1 match in 1,234 lines]\n3:x'],
  ['read_output', {...READ_OUTPUT, matches: [{line: 3, content: 'x', context_before: [], context_after: []}, {line: 9, content: 'y', context_before: [], context_after: []}], total_matches: 2000, next: {start_line: 10}}, '[stdout of step 2: 2 of 2,000 matches in 1,234 lines; next: start_line=10]\n3:x\n9:y'],
  ['read_output', {...READ_OUTPUT, matches: [{line: 3, content: 'x', context_before: ['a', 'b'], context_after: ['c']}, {line: 5, content: 'y', context_before: ['x2', 'z'], context_after: ['d']}, {line: 9, content: 'w', context_before: ['u', 'v'], context_after: []}, {line: 20, content: 'q', context_before: ['p'], context_after: []}], total_matches: 4}, '[stdout of step 2: 4 matches in 1,234 lines]\n1-a\n2-b\n3:x\n4-c\n5:y\n6-d\n7-u\n8-v\n9:w\n--\n19-p\n20:q'],
  ['read_output', {...READ_OUTPUT, total_matches: 7}, '[stdout of step 2: 0 of 7 matches in 1,234 lines]'],
  ['read_output', {...READ_OUTPUT, matches: [{line: 3, content: 'x', context_before: [], context_after: ['c']}, {line: 5, content: 'y', context_before: [], context_after: []}], total_matches: 2}, '[stdout of step 2: 2 matches in 1,234 lines]\n3:x\n4-c\n5:y'],
  ['stop_run', {...STOP_RUN, background: {running: true, duration_sec: 3.14}}, 'Step 3 running for 3.1 s.'],
  ['stop_run', {...STOP_RUN, background: {running: false, duration_sec: 1.26, ended: 'exited', exit_code: 7}}, 'Step 3 ended with exit code 7 after 1.3 s.'],
  ['stop_run', {...STOP_RUN, background: {running: false, duration_sec: 1.26, ended: 'killed', signal: 'SIGKILL'}}, 'Step 3 was killed by SIGKILL after 1.3 s.'],
  ['stop_run', {...STOP_RUN, background: {running: false, duration_sec: 1.26, ended: 'out_of_memory'}}, 'Step 3 ran out of memory after 1.3 s (tools.run.memory_mb).'],
  ['stop_run', {...STOP_RUN, background: {running: false, duration_sec: 1.26, ended: 'out_of_time'}}, 'Step 3 was ended after 1.3 s, as long as it may run.'],
  ['stop_run', {...STOP_RUN, background: {running: false, duration_sec: 1.26, ended: 'stopped'}}, 'Step 3 was stopped after 1.3 s.'],
  ['stop_run', {...STOP_RUN, background: {running: false, duration_sec: 1.26, ended: 'failed', error: 'It broke.'}}, 'Step 3 failed after 1.3 s: It broke.'],
  ['stop_run', {...STOP_RUN, was_running: false, background: {running: false, duration_sec: 1, ended: 'exited', exit_code: 0, repositories: ['r', 's'], left_running: ['a', 'b']}, last_words: 'bye'}, 'Step 3 had ended before: it ended with exit code 0 after 1 s.\ngit repositories have appeared in: r, s\nkilled at its end: a, b\nEnd of its output:\nbye'],
  ['wait_for', {...WAIT_FOR, outcome: 'text', stream: 'stderr', line: 'ready'}, 'Step 1 (running for 3.1 s) has printed, to stderr: ready'],
  ['wait_for', {...WAIT_FOR, outcome: 'port'}, 'Step 1 (running for 3.1 s) listens on the port, which only what runs inside of it can reach.'],
  ['wait_for', {...WAIT_FOR, outcome: 'time_out', waited_sec: 59.6}, 'Not yet, after 60 s: step 1 is still running for 3.1 s. Look with read_output step=1, wait again, or end it with stop_run.'],
  ['wait_for', {...WAIT_FOR, outcome: 'ended', background: {running: false, duration_sec: 1, ended: 'exited', exit_code: 0, repositories: ['r'], left_running: ['a']}, last_words: 'bye'}, 'Step 1 ended with exit code 0 after 1 s.\ngit repositories have appeared in: r\nkilled at its end: a\nEnd of its output (read_output step=1 has all):\nbye'],
  ['wait_for', {...WAIT_FOR, outcome: 'ended', background: {running: false, duration_sec: 1, ended: 'stopped'}}, 'Step 1 was stopped after 1 s.'],
  ['search', {...SEARCH, total_matches: 0}, 'No matches.'],
  ['search', {...SEARCH, matches: [{file: 'a', line: 3, content: 'x', context_before: [], context_after: []}], total_matches: 1}, 'a\n3:x'],
  ['search', {...SEARCH, matches: [{file: 'a', line: 3, content: 'x', context_before: [], context_after: []}, {file: 'a', line: 9, content: 'y', context_before: [], context_after: []}, {file: 'b', line: 1, content: 'z', context_before: [], context_after: []}], truncated: true, total_matches: 1200}, 'a\n3:x\n9:y\n\nb\n1:z\n[3 of 1,200 matches; raise max_results, or narrow query, glob or path, to see the others; output="count" counts them]'],
  ['search', {...SEARCH, matches: [{file: 'a', line: 3, content: 'x', context_before: ['1', '2'], context_after: ['4', '5']}, {file: 'a', line: 5, content: 'y', context_before: ['x', '4'], context_after: ['6']}, {file: 'a', line: 20, content: 'z', context_before: ['19'], context_after: [], content_truncated: true}], total_matches: 3}, 'a\n1-1\n2-2\n3:x\n4-4\n5:y\n6-6\n--\n19-19\n20:z […]'],
  ['search', {...SEARCH, matches: [{file: 'a', line: 3, content: 'x\ny', context_before: ['2'], context_after: ['5'], end_line: 4, content_truncated: true}, {file: 'a', line: 9, content: 'z', context_before: [], context_after: []}], total_matches: 2}, 'a\n2-2\n3:x\n4:y […]\n5-5\n9:z'],
  ['search', {...SEARCH, matches: [{file: 'a', line: 3, content: 'x', context_before: [], context_after: ['n', 'o']}, {file: 'a', line: 5, content: 'o', context_before: ['n'], context_after: ['p']}], total_matches: 2}, 'a\n3:x\n4-n\n5:o\n6-p'],
  ['search', {...SEARCH, matches: [{file: 'a', line: 3, content: 'x', context_before: [], context_after: ['4']}, {file: 'a', line: 5, content: 'y', context_before: ['4'], context_after: []}], total_matches: 2}, 'a\n3:x\n4-4\n5:y'],
  ['search', {...SEARCH, truncated: true, total_matches: 5}, '[0 of 5 matches; raise max_results, or narrow query, glob or path, to see the others; output="count" counts them]'],
  ['search', {...SEARCH, total_matches: 1234, files: [{file: 'a', matches: 1000}, {file: 'b', matches: 234}], total_files: 2}, 'a\nb'],
  ['search', {...SEARCH, total_matches: 1234, files: [{file: 'a', matches: 1000}, {file: 'b', matches: 234}], total_files: 2, counted: true}, 'a: 1,000\nb: 234\n[1,234 matches in 2 files]'],
  ['search', {...SEARCH, truncated: true, total_matches: 5000, files: [{file: 'a', matches: 1000}], total_files: 1001, counted: true}, 'a: 1,000\n[the first file; 5,000 matches in 1,001 files; raise max_results to see more]'],
  ['search', {...SEARCH, truncated: true, total_matches: 5000, files: [{file: 'a', matches: 1000}], total_files: 1001}, 'a\n[the first file; 5,000 matches in 1,001 files; raise max_results to see more]'],
  ['search', {...SEARCH, truncated: true, total_matches: 5000, files: [], total_files: 1001}, '1,001 files, none shown.'],
  ['search', {...SEARCH, total_matches: 0, files: []}, '0 files, none shown.'],
  ['search', {...SEARCH, total_matches: 0, nothing_found: {searched_files: 0, ignored_files: 0}}, 'No file was searched.'],
  ['search', {...SEARCH, total_matches: 0, nothing_found: {searched_files: 1, ignored_files: 1}}, 'No matches in 1 file. 1 file that fits is ignored; include_ignored searches it.'],
  ['search', {...SEARCH, total_matches: 0, nothing_found: {searched_files: 1234, ignored_files: 2345}}, 'No matches in 1,234 files. 2,345 files that fit are ignored; include_ignored searches them.'],
  ['search', {...SEARCH, total_matches: 0, nothing_found: {searched_files: 0, ignored_files: 0, hint: 'src/**'}}, 'No file was searched. No file fits glob; did you mean "src/**"?'],
  ['glob', GLOB, 'No files.'],
  ['glob', {...GLOB, files: ['a', 'b'], ignored_files: 1}, 'a\nb\n[1 ignored file fits too; include_ignored shows it]'],
  ['glob', {...GLOB, files: ['a', 'b'], truncated: true, ignored_files: 1234}, 'a\nb\n[the first 2 files; narrow pattern or root to see the others]\n[1,234 ignored files fit too; include_ignored shows them]'],
  ['glob', {...GLOB, truncated: true}, 'No path fits into the answer.\n[narrow pattern or root to see the others]'],
  ['list_files', {files: [], truncated: false, total_files: 0}, 'No files.'],
  ['list_files', {files: ['b', 'a'], truncated: false, total_files: 2}, 'a\nb'],
  ['list_files', {files: ['a', 'n/x', 'z'], truncated: false, total_files: 4, directories: [{path: 'n/', files: 2, ignored: true}]}, 'a\nn/ (2 files, ignored)\nz'],
  ['list_files', {files: ['a'], truncated: true, total_files: 5, directories: [{path: 'd/', files: 1}, {path: 'n/', files: 2, ignored: true}]}, 'a\nd/ (1 file)\nn/ (2 files, ignored)\n[1 file more; narrow root or glob, or set depth, to see the others]'],
  ['list_files', {files: ['a', 'n/x'], truncated: true, total_files: 1500, directories: [{path: 'n/', files: 1200, ignored: true}], own_files: ['a', 'b']}, 'a\nb\nn/ (1,200 files, ignored)\n[298 files more; narrow root or glob, or set depth, to see the others]'],
  ['list_files', {files: ['a'], truncated: true, total_files: 2}, 'a\n[1 file more; narrow root or glob, or set depth, to see the others]'],
  ['list_files', {files: ['a'], truncated: true, total_files: 1}, 'a'],
  ['read_file', {...READ_FILE, content: 'a\nb\n', total_lines: 2, end_line: 2}, '[lines 1-2 of 2]\na\nb\n'],
  ['read_file', {...READ_FILE, content: 'b', total_lines: 2, start_line: 2, end_line: 2}, '[lines 2-2 of 2]\nb'],
  ['read_file', {...READ_FILE, content: 'a\nb\n', total_lines: 2, end_line: 2, line_numbers: true}, '[lines 1-2 of 2]\n1\ta\n2\tb\n'],
  ['read_file', {...READ_FILE, content: 'x\nx\nx\n', total_lines: 12, start_line: 9, end_line: 11, line_numbers: true}, '[lines 9-11 of 12]\n 9\tx\n10\tx\n11\tx\n'],
  ['read_file', {...READ_FILE, content: '', total_lines: 0, end_line: 0}, '[lines 1-0 of 0]\n'],
  ['read_file', {...READ_FILE, content: 'a\n[...]\nz\n', truncated: true, total_lines: 9, end_line: 9, left_out: {start_line: 2, end_line: 8}, next: {start_line: 2, end_line: 8}}, '[lines 1-1 of 9; next: start_line=2]\na\n'],
  ['read_file', {...READ_FILE, content: 'abc[...]\nz\n', truncated: true, total_lines: 9, end_line: 9, left_out: {start_line: 1, end_line: 8}}, '[a part of line 1 of 9, which is too long to be shown whole; next: start_line=2]\nabc[...]\n'],
  ['read_file', {...READ_FILE, content: 'abc[...]', truncated: true, total_lines: 1, end_line: 1, left_out: {start_line: 1, end_line: 1}}, '[a part of line 1 of 1, which is too long to be shown whole]\nabc[...]\n'],
  ['replace_in_files', {...REPLACE_IN_FILES, undo_step: 4}, '3 in 2 files (undo with step=4 takes it back)\na | 2\nb | 1'],
  ['replace_in_files', {...REPLACE_IN_FILES, replacements: 1, files: [{path: 'a', count: 1}], left_out_total: 2, not_text: 1, unreadable: 3, undo_step: 4}, '1 in 1 file (undo with step=4 takes it back)\na | 1\n[files left out: 2 that match and cannot be changed, 1 binary, 3 that may not be read]'],
  ['replace_in_files', {...REPLACE_IN_FILES, not_text: 1, dry_run: true, diff: 'the diff'}, 'Dry run, nothing was changed: 3 in 2 files\na | 2\nb | 1\n[files left out: 1 binary]\nthe diff'],
  ['replace_in_files', {...REPLACE_IN_FILES, unreadable: 1, undo_step: 4}, '3 in 2 files (undo with step=4 takes it back)\na | 2\nb | 1\n[files left out: 1 that may not be read]'],
  ['str_replace', {path: 'a', match: {lines: [1, 1], count: 1}, added: 1, removed: 2, dry_run: false, diff: 'the diff'}, 'a | +1 -2\nthe diff'],
  ['str_replace', {path: 'a', match: {lines: [1, 1], count: 3}, added: 1, removed: 2, dry_run: true, diff: 'the diff'}, 'Dry run, nothing was changed: a | +1 -2 (3 places)\nthe diff'],
  ['write_file', {...WRITE_FILE, created: true}, 'a | +1 -0 (new file, 1 byte)'],
  ['write_file', {...WRITE_FILE, bytes: 1234}, 'a | +1 -0 (replaced, 1234 bytes)'],
  ['write_file', {...WRITE_FILE, changed: false, added: 0}, 'a | +0 -0 (unchanged, it has that content already, 1 byte)'],
  ['write_file', {...WRITE_FILE, line_endings: 'crlf', unread_lines_replaced: 1, undo_step: 3}, 'a | +1 -0 (replaced, 1 byte, CRLF kept)\n[1 line that had not been read went; undo with step=3 brings them back]'],
  ['write_file', {...WRITE_FILE, unread_lines_replaced: 2, undo_step: 3}, 'a | +1 -0 (replaced, 1 byte)\n[2 lines that had not been read went; undo with step=3 brings them back]'],
  ['write_file', {...WRITE_FILE, dry_run: true, unread_lines_replaced: 2, diff: 'the diff'}, 'Dry run, nothing was changed: a | +1 -0 (replaced, 1 byte)\n[2 lines that had not been read would go]\nthe diff'],
  ['write_file', {...WRITE_FILE, created: true, dry_run: true, diff: 'the diff'}, 'Dry run, nothing was changed: a | +1 -0 (new file, 1 byte)\nthe diff'],
  ['apply_patch', APPLY_PATCH, '1 file\na | +1 -2'],
  ['apply_patch', {...APPLY_PATCH, changed_files: ['a', 'b'], stat: [{path: 'b', from: 'a', added: 0, removed: 0}], offsets: [{path: 'b', hunk: 2, line: 7, offset: 3}], recounted_hunks: 1}, '2 files\na => b | +0 -0\n[hunk 2 of b was applied at line 7, not where it says]\n[wrong line counts were corrected in 1 hunk header]'],
  ['apply_patch', {...APPLY_PATCH, recounted_hunks: 2, dry_run: true, diff: 'the diff'}, 'Dry run, nothing was changed: 1 file\na | +1 -2\n[wrong line counts were corrected in 2 hunk headers]\nthe diff'],
  ['apply_patch', {...APPLY_PATCH, changed_files: [], stat: []}, '0 files'],
  ['move_file', {from: 'a', to: 'b', bytes: 1, undo_step: 2, dry_run: false}, 'a => b (moved)'],
  ['move_file', {from: 'a', to: 'b', bytes: 1, dry_run: true}, 'Dry run, nothing was changed: a => b'],
  ['delete_file', {path: 'a', bytes: 1, removed: 1, undo_step: 2, dry_run: false}, 'a | -1 (deleted, 1 byte; undo with step=2 brings it back)'],
  ['delete_file', {path: 'a', bytes: 2345, removed: 1, dry_run: true}, 'Dry run, nothing was changed: a | -1 (2345 bytes)'],
  ['undo', {step: 1, restored_files: ['a', 'b'], undo_step: 4}, 'Step 1 is taken back (undo with step=4 makes it again):\na\nb'],
  ['web_fetch', {requested_url: 'u', chunks: []}, '{"requested_url":"u","chunks":[]}'],
];

test.each([...new Set(CASES.map(([name]) => name))])('ruling H2: what %s answers as text', async name => {
  const tool = (await everyTool()).find(one => one.name === name);
  for (const [, data, text] of CASES.filter(one => one[0] === name))
    expect(tool?.renderText(data)).toBe(text);
});
