/** A path as ripgrep prints it for the directory `.`; undefined for one that is not UTF-8, which has no name here. */
export function printedPath(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (text.includes('\ufffd') && !Buffer.from(text).equals(buffer)) return undefined;
  const path = process.platform === 'win32' ? text.replaceAll('\\', '/') : text;
  return path.startsWith('./') ? path.slice(2) : path;
}
