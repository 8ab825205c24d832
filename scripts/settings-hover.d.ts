/** Gives each setting in a declaration file its sentence as a comment. */
export function withSettingsHover(text: string): string;
