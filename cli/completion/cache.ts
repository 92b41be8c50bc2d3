import { createHash } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../src/client/session.js';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { now } from '../clock.js';

const KEPT_MS = 30_000;

/** Result of `read`, kept for half a minute in the user's cache folder (XDG), for its owner alone. */
export const cached = async (of: string[], read: () => Promise<string>): Promise<string> => {
  const folder = cacheFolder();
  // A digest: what is kept is named by a token among others.
  const file = join(folder, createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 32));
  const kept = fresh(file);
  if (kept !== undefined) return kept;
  const text = await read();
  makePrivateFolder(folder);
  writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
  return text;
};

const fresh = (file: string): string | undefined => {
  const stat = statSync(file, { throwIfNoEntry: false });
  const age = stat ? now() - stat.mtimeMs : KEPT_MS;
  return age >= 0 && age < KEPT_MS ? readFileSync(file, 'utf8') : undefined;
};
