import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../kernel/failure.js';
import { DAMAGE_FILE } from '../llm/llama/files.js';

export interface WhisperModel {
  /** Slug: `whisper-base-q5_1`. */
  slug: string;
  path: string;
  bytes: number;
}

export interface WhisperFiles {
  /** Folder with whisper.node in node_modules; null: not installed. */
  engine: string | null;
  /** Largest first, which is the most accurate. */
  models: WhisperModel[];
}

const MODEL_FOLDER = /^whisper-[a-z0-9._-]{1,90}$/;

/** Skips models that are damaged or not regular files. */
export const findWhisper = async (capabilities: string): Promise<WhisperFiles> => {
  const names = (await orNone(readdir(capabilities))) ?? [];
  const found = await Promise.all(
    names.filter((name) => MODEL_FOLDER.test(name)).map((slug) => modelIn(capabilities, slug)),
  );
  const models = found.flatMap((model) => (model === null ? [] : [model]));
  return {
    engine: await engineIn(join(capabilities, 'whisper')),
    models: models.sort((one, other) => other.bytes - one.bytes),
  };
};

const modelIn = async (capabilities: string, slug: string): Promise<WhisperModel | null> => {
  const folder = join(capabilities, slug);
  const path = await orNone(realpath(join(folder, 'model.bin')));
  if (path === null || (await isDamaged(folder))) return null;
  const found = await stat(path);
  return found.isFile() ? { slug, path, bytes: found.size } : null;
};

const engineIn = async (folder: string): Promise<string | null> => {
  const main = await orNone(realpath(join(folder, 'node_modules/@fugood/whisper.node')));
  if (main === null || (await isDamaged(folder))) return null;
  return dirname(dirname(dirname(main)));
};

const isDamaged = async (folder: string): Promise<boolean> =>
  (await orNone(stat(join(folder, DAMAGE_FILE)))) !== null;

const orNone = async <T>(requested: Promise<T>): Promise<T | null> => {
  try {
    return await requested;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
};
