/** What is not one space already. */
const TO_COLLAPSE = /[\t\n\f\r]| {2}/;
const RUN = /[ \t\n\f\r]{2,}|[\t\n\f\r]/g;

/** HTML's white space collapsing: every run of ASCII blanks becomes one space. */
export function collapseBlanks(text: string): string {
  return TO_COLLAPSE.test(text) ? text.replace(RUN, ' ') : text;
}
