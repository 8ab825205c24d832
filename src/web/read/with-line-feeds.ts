/** Every line ends in LF: the text that snapshots, positions and counts are about. */
export function withLineFeeds(markdown: string): string {
  return markdown.includes('\r') ? markdown.replaceAll(/\r\n?/g, '\n') : markdown;
}
