// Names that models know from other tools, and the names of ours that they mean.

/** Ruling H9: names that other tools have for ours. A call by them is refused, and the refusal names ours. */
export const TOOL_SYNONYMS = listed({
  read_file: 'read view view_file open_file cat get_file_contents read_text_file fs_read',
  write_file: 'write create_file create save_file write_to_file fs_write',
  str_replace: `
    edit edit_file multi_edit replace replace_in_file search_replace str_replace_editor
    str_replace_based_edit_tool update_file`,
  apply_patch: 'patch apply_diff apply_unified_diff git_apply',
  search: `
    grep rg ripgrep grep_search search_files search_file_content search_code find_in_files codebase_search`,
  glob: 'find find_files file_search glob_search search_by_name',
  list_files: 'ls list list_dir list_directory directory_tree read_directory',
  run: `
    bash shell sh exec exec_command execute execute_command run_command run_shell_command run_terminal_cmd
    run_in_terminal terminal local_shell`,
  web_fetch: 'fetch fetch_url http_get get_url open_url browse read_url url_fetch',
  web_read: 'read_page read_web_page',
  move_file: 'rename rename_file move mv',
  delete_file: 'delete remove_file remove rm',
  read_output: 'bash_output get_output get_command_or_task_output read_terminal',
  stop_run: 'kill_shell kill_bash kill_command terminate',
});

/** The same for parameters. One name can stand for several of ours: the tool at hand decides. */
export const PARAMETER_SYNONYMS = listed({
  path: `
    file_path filepath filename file_name file target_file absolute_path relative_path
    relative_workspace_path directory dir`,
  root: 'path dir directory dir_path directory_path folder base_path cwd target_directory',
  old_string: 'old_str old_text old search find old_content search_text',
  new_string: 'new_str new_text new replace replacement new_content replacement_text',
  replace_all: 'allow_multiple replace_all_occurrences expected_replacements global',
  edits: 'changes replacements operations',
  content: 'file_text contents text data file_content code_edit body',
  unified_diff: 'patch diff input patch_text unified_patch',
  query: 'pattern regex search search_term q text keyword search_pattern needle',
  pattern: 'glob query glob_pattern file_pattern name file_name_pattern',
  glob: 'include include_pattern file_pattern glob_pattern pattern filter file_types type',
  output: 'output_mode mode format',
  max_results: 'head_limit limit max max_count max_matches num_results',
  context_lines: 'context before_context after_context c a b lines_of_context',
  is_regex: 'use_regex regexp regex is_regexp',
  case_sensitive: 'i ignore_case case_insensitive match_case',
  respect_gitignore: 'gitignore respect_git_ignore include_ignored no_ignore',
  include_ignored: 'no_ignore respect_gitignore respect_git_ignore ignored',
  start_line: 'offset line from from_line start line_start view_range start_index',
  end_line: 'limit to to_line end line_end num_lines line_count',
  depth: 'max_depth recursive level levels',
  line_numbers: 'show_line_numbers number_lines n',
  command: 'cmd script shell_command code args argv input',
  timeout_sec: 'timeout timeout_ms timeout_seconds time_limit yield_time_ms block_until_ms',
  cwd: 'workdir working_directory directory dir working_dir',
  background: 'run_in_background is_background background_execution async',
  env: 'environment env_vars variables',
  url: 'uri link address href urls page',
  find: 'query prompt question search',
  quotes: 'quotations texts',
  quote: 'text quotation claim',
  force_browser: 'browser javascript render use_browser',
  no_cache: 'fresh refresh bypass_cache',
  max_chunk_tokens: 'chunk_size max_tokens chunk_tokens',
  dry_run: 'preview check simulate',
  from: 'source src old_path source_path path',
  to: 'destination dest new_path target destination_path',
});

/** What a caller has to know beside the name. */
export const PARAMETER_NOTES: Readonly<Record<string, string>> = {
  timeout_sec: 'in seconds',
  end_line: 'the last line to read, not a number of lines',
  start_line: 'from 1',
  command: 'one string for sh -c',
  case_sensitive: 'false, the default, ignores case',
  include_ignored: 'true also takes what .gitignore leaves out',
  respect_gitignore: 'true leaves out what .gitignore names',
};

function listed(names: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(names).map(([ours, theirs]) => [ours, theirs.trim().split(/\s+/)]),
  );
}
