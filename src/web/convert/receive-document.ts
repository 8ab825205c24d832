import {freeMemoryWhenIdle} from '../../core/memory/free-memory.ts';
import type {ConvertedDocument, SentDocument} from './jobs.ts';

/** What a thread has sent. Nothing that converts documents is loaded for it. */
export function receiveDocument({markdown: bytes, document, ...rest}: SentDocument): ConvertedDocument {
  const markdown = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  freeMemoryWhenIdle([bytes]);
  return {...rest, document: {markdown, ...document}};
}
