// A ZIP archive with deflated entries: what an .mcpb bundle is. Small files only, no ZIP64.
import {crc32, deflateRawSync} from 'node:zlib';

/** The same bytes for the same entries: every file is of 1980, the first year that the format knows. */
const DATE = 0x0021;
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;

/** `entries`: names with `/`, their bytes, and whether they can be executed. */
export function zip(entries) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const {name, bytes, executable} of entries) {
    const path = Buffer.from(name);
    const body = deflateRawSync(bytes, {level: 9});
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(0, 6);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(body.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, body]);
    const outside = Buffer.alloc(14);
    outside.writeUInt32LE(((executable ? 0o100755 : 0o100644) << 16) >>> 0, 6);
    outside.writeUInt32LE(offset, 10);
    // 3 is Unix, whose permissions are kept.
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), common, outside, path]));
    parts.push(local);
    offset += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}
