/**
 * What the line numbers of a patch say of a file (W15). `as_read`: it is what the session was shown, so they hold.
 * `changed`: it is something else by now, so they say nothing. `unread`: nobody knows; the old lines have to agree.
 */
export type LineNumbers = 'as_read' | 'changed' | 'unread';
