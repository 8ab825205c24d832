/** A page that says of itself which URL and version it is, in every line; as cache-files-worker.js makes them. */
export function pageText(url: string, version: number): {readonly markdown: string; readonly title: string} {
  return {markdown: `${url} version ${version}\n`.repeat(80 + version), title: `${url} ${version}`};
}

export function versionOf({title = ''}: {readonly title?: string}): number {
  return Number(title.split(' ').at(-1));
}
