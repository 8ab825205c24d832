/** What `readFile` takes whole where the caller names no limit, and what edits work on. */
export const MAX_WHOLE_FILE_BYTES = 32 * 1024 * 1024;
