import { createWriteStream, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { read } from '../../src/client/exchange.js';
import { contracts } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { failed } from '../exit.js';
import { safe } from '../text.js';

export const downloadOriginal = async (
  context: Context,
  id: string,
  file: string,
): Promise<void> => {
  const { content } = await contracts.documents();
  await downloadFile(context, content.path.replace('{id}', encodeURIComponent(id)), file);
};

/** Reasons by error code of the system. */
const UNWRITABLE: Record<string, string> = {
  EEXIST: 'already exists. Choose another file name',
  ENOENT: 'cannot be written: its folder does not exist. Create the folder first',
  EACCES: 'cannot be written: permission denied. Choose another folder',
  EISDIR: 'is a folder. Add a file name',
  ENOSPC: 'cannot be written: the disk is full. Free some disk space',
  EROFS: 'cannot be written: the disk is read-only. Choose another folder',
};

export const downloadFile = async (
  { url, token, streams, signal }: Pick<Context, 'url' | 'token' | 'streams' | 'signal'>,
  path: string,
  file: string,
): Promise<void> => {
  const response = await fetch(url + path, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body) {
    read(response, await response.text());
    throw failed('The daemon returned no file. Try again.');
  }
  const source = Readable.from(response.body);
  if (file === '-') return pipeline(source, streams.stdout, { end: false });
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  let isOwn = false;
  target.once('open', () => {
    isOwn = true;
  });
  try {
    await pipeline(source, target);
  } catch (error) {
    if (isOwn) rmSync(file, { force: true });
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = UNWRITABLE[code];
    if (reason === undefined) throw error;
    throw failed(`${safe(file)} ${reason}.`);
  }
};
