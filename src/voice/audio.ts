import { createWriteStream } from 'node:fs';
import { lstat, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncToDisk } from '../kernel/durable.js';
import { errorCode } from '../kernel/failure.js';
import { makePrivateFolder } from '../kernel/private.js';
import type { AudioFacts } from './decode/job.js';
import { AUDIO_HEAD_BYTES } from './decode/kinds.js';

export interface ArrivedAudio {
  bytes: number;
  /** First bytes, for format detection. */
  head: Buffer;
}

export type AudioFiles = ReturnType<typeof createAudioFiles>;

/** `<home>/voice/<id>`, with the decoded audio next to it. Deleted when the transcription ends. */
export const createAudioFiles = (home: string) => {
  const root = join(home, 'voice');
  const pathOf = (id: string): string => join(root, id);
  const decodedPath = (id: string): string => `${pathOf(id)}.pcm`;
  const factsPath = (id: string): string => `${pathOf(id)}.json`;

  return {
    pathOf,
    decodedPath,

    receive: async (id: string, content: Readable): Promise<ArrivedAudio> => {
      makePrivateFolder(root);
      const heads: Buffer[] = [];
      let bytes = 0;
      const watch = async function* (source: AsyncIterable<Buffer>) {
        for await (const chunk of source) {
          if (bytes < AUDIO_HEAD_BYTES) heads.push(chunk.subarray(0, AUDIO_HEAD_BYTES - bytes));
          bytes += chunk.length;
          yield chunk;
        }
      };
      await pipeline(content, watch, createWriteStream(pathOf(id), { flags: 'wx', mode: 0o600 }));
      await synced(pathOf(id));
      syncToDisk(root);
      return { bytes, head: Buffer.concat(heads) };
    },

    keepDecoded: async (id: string, path: string, facts: AudioFacts): Promise<void> => {
      // Written by a process that handled an untrusted file.
      if (!(await lstat(path)).isFile()) throw new Error('The decoded audio is not a file');
      await rename(path, decodedPath(id));
      await writeFile(`${factsPath(id)}.new`, JSON.stringify(facts), { mode: 0o600 });
      await rename(`${factsPath(id)}.new`, factsPath(id));
    },

    /** null if not decoded. */
    decoded: async (id: string): Promise<AudioFacts | null> => {
      try {
        await lstat(decodedPath(id));
        return JSON.parse(await readFile(factsPath(id), 'utf8'));
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return null;
        throw error;
      }
    },

    remove: async (id: string): Promise<void> => {
      for (const path of [pathOf(id), decodedPath(id), factsPath(id), `${factsPath(id)}.new`]) {
        await rm(path, { force: true });
      }
    },

    ids: async (): Promise<string[]> => {
      const names = await readdir(root).catch(() => []);
      return [...new Set(names.map((name) => name.replace(/\..*$/, '')))];
    },
  };
};

const synced = async (path: string): Promise<void> => {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};
