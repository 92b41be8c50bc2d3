import { closeSync, fsyncSync, openSync, utimesSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncToDisk } from '../../kernel/durable.js';
import { makePrivateFolder } from '../../kernel/private.js';
import type { FoundEntry } from '../../kernel/tar.js';
import type { ProgressWatch } from './progress.js';
import type { Backup } from './reader.js';

/** Creates the file and its parent folders. The file is on the disk when this returns. */
export const writeNew = (
  root: string,
  path: string,
  { chunks, isExecutable = false }: { chunks: Iterable<Buffer>; isExecutable?: boolean },
): void => {
  const to = join(root, path);
  makePrivateFolder(dirname(to));
  const out = openSync(to, 'wx', isExecutable ? 0o700 : 0o600);
  try {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) at += writeSync(out, chunk, at);
    }
    fsyncSync(out);
  } finally {
    closeSync(out);
  }
  syncToDisk(dirname(to));
};

/** `as` is the file name, by default that of the entry. */
export const unpack = (
  { read }: Pick<Backup, 'read'>,
  entry: FoundEntry,
  { root, as = entry.name, watch }: { root: string; as?: string; watch: ProgressWatch },
): void => {
  function* counted() {
    let done = 0;
    for (const chunk of read(entry)) {
      yield chunk;
      done += chunk.length;
      watch.step('copy', done, entry.size);
    }
  }
  writeNew(root, as, { chunks: counted(), isExecutable: entry.isExecutable });
  utimesSync(join(root, as), entry.mtime, entry.mtime);
};
