/** FR-WF-TIMEOUT-01: `page_load_buffer_s`, what a browser may take beside waiting for its page. */
export const PAGE_LOAD_BUFFER_MS = 5000;
