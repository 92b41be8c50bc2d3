import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { read } from '../../src/client/exchange.js';
import { contracts } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { failed } from '../exit.js';

/**
 * Writes the original of a document to a file that does not exist yet, or to standard output for
 * `-`.
 */
export const downloadOriginal = async (
  { url, token, streams, signal }: Context,
  id: string,
  file: string,
): Promise<void> => {
  const { content } = await contracts.documents();
  const response = await fetch(url + content.path.replace('{id}', encodeURIComponent(id)), {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body) {
    read(response, await response.text());
    throw failed('The daemon sent no file.');
  }
  const source = Readable.from(response.body);
  if (file === '-') return pipeline(source, streams.stdout, { end: false });
  try {
    await pipeline(source, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw failed(`${file} is there already.`);
  }
};
