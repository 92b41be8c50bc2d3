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

/** Audio that has arrived. */
export interface ArrivedAudio {
  bytes: number;
  /** Its first bytes, by which its kind is told. */
  head: Buffer;
}

/** The audio of transcriptions that go on, as it came and decoded. */
export type AudioFiles = ReturnType<typeof createAudioFiles>;

/**
 * Creates the store of audio: `<home>/voice/<id>` as it came, and decoded beside it. It is removed when
 * its transcription ends.
 */
export const createAudioFiles = (home: string) => {
  const root = join(home, 'voice');
  const pathOf = (id: string): string => join(root, id);
  const decodedPath = (id: string): string => `${pathOf(id)}.pcm`;
  const factsPath = (id: string): string => `${pathOf(id)}.json`;

  return {
    pathOf,
    decodedPath,

    /** Writes audio that arrives through to the disk. */
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

    /** Keeps decoded audio, which lies at that path, and the facts about it. */
    keepDecoded: async (id: string, path: string, facts: AudioFacts): Promise<void> => {
      // It was written by a process that had the file of a stranger.
      if (!(await lstat(path)).isFile()) throw new Error('The decoded audio is no file');
      await rename(path, decodedPath(id));
      await writeFile(`${factsPath(id)}.new`, JSON.stringify(facts), { mode: 0o600 });
      await rename(`${factsPath(id)}.new`, factsPath(id));
    },

    /** Returns the facts about decoded audio; null if it is not decoded. */
    decoded: async (id: string): Promise<AudioFacts | null> => {
      try {
        await lstat(decodedPath(id));
        return JSON.parse(await readFile(factsPath(id), 'utf8'));
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return null;
        throw error;
      }
    },

    /** Removes the audio of a transcription. */
    remove: async (id: string): Promise<void> => {
      for (const path of [pathOf(id), decodedPath(id), factsPath(id), `${factsPath(id)}.new`]) {
        await rm(path, { force: true });
      }
    },

    /** Lists the ids of transcriptions whose audio is there. */
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
