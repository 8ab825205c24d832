import {printedPath} from './printed-path.ts';

const NUL = 0;

/** For the output of `rg --files --null`: calls `take` for each path that is UTF-8. */
export function readNames(take: (path: string) => void): (part: Uint8Array) => true {
  let rest: Uint8Array = new Uint8Array();
  return part => {
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
    let start = 0;
    for (let end = bytes.indexOf(NUL); end !== -1; end = bytes.indexOf(NUL, start)) {
      const path = printedPath(bytes.subarray(start, end));
      if (path !== undefined) take(path);
      start = end + 1;
    }
    rest = bytes.slice(start);
    return true;
  };
}
