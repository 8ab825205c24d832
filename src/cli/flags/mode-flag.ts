/** R2. */
export function modeFlag(standard: string) {
  return {
    type: 'string',
    value: 'MODE',
    choices: ['srd', 'reader'],
    help: `What of a page is its content: srd (all but what is named as furniture), or reader (the main content, told by the structure). Default: ${standard}.`,
  } as const;
}
