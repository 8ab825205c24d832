import type {FileHandle} from 'node:fs/promises';
import {errorCode} from '../../system/error-code.ts';

/** Closes what was only read from: a system that complains then takes nothing back of what was read. */
export async function closeReader(handle: FileHandle): Promise<void> {
  try {
    await handle.close();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
}
