import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, NamedError } from '../../../kernel/failure.js';
import type { ModelFailureKind } from '../model.js';

/** The error of a model that is not loaded. The message goes on after the model's name. */
export class NotLoaded extends NamedError {
  constructor(
    readonly kind: ModelFailureKind,
    message: string,
  ) {
    super(message);
  }
}

/** The files of an installed model, and the engine that runs it. */
export interface ModelFiles {
  /** The folder that has node-llama-cpp in its node_modules. */
  engine: string;
  /** The GGUF file, the first of several if it is split. */
  path: string;
  /** The bytes of all its files. */
  bytes: number;
  /** Another one after each change of the files. */
  fingerprint: string;
}

/** The file in the folder of a model, or of the engine, that was found damaged. */
export const DAMAGE_NOTE = 'damaged.txt';

/** Returns the sentence about something that is installed and damaged, with what to do. */
export const damageSentence = (slug: string, whose = 'Its file is'): string =>
  `${whose} damaged. Reinstall it with: adjutant capabilities install ${slug}`;

/** The names of installed models. */
const SLUG = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const MODEL_FILE = /^model(?:-\d{5}-of-\d{5})?\.gguf$/;

/** Returns true for a text that may be the name of an installed model. */
export const isSlug = (text: string): boolean => SLUG.test(text);

/** Finds an installed model and its engine in the folder of capabilities. Throws NotLoaded. */
export const findModelFiles = async (capabilities: string, slug: string): Promise<ModelFiles> => {
  const folder = isSlug(slug) ? join(capabilities, slug) : null;
  const names =
    folder === null ? [] : (await namesIn(folder)).filter((each) => MODEL_FILE.test(each));
  const [first] = names.sort();
  if (folder === null || first === undefined) {
    throw notInstalled(slug);
  }
  await refuseDamaged(folder, damageSentence(slug, 'its file is'));
  const engine = await folderOf(
    join(capabilities, 'llama/node_modules/node-llama-cpp/package.json'),
  );
  if (engine === null) {
    const remedy = 'adjutant capabilities install llama';
    throw new NotLoaded(
      'refused_connection',
      `needs llama, which is not installed. Run: ${remedy}`,
    );
  }
  await refuseDamaged(
    join(capabilities, 'llama'),
    damageSentence('llama', 'the files of llama are'),
  );
  const paths = names.map((name) => join(folder, name));
  const [path, ...stats] = await Promise.all([
    realpath(join(folder, first)),
    ...paths.map((each) => stat(each)),
  ] as const).catch((error: unknown) => {
    throw errorCode(error) === 'ENOENT' ? notInstalled(slug) : error;
  });
  return {
    engine: dirname(dirname(engine)),
    path,
    bytes: stats.reduce((sum, { size }) => sum + size, 0),
    fingerprint: stats.map(({ mtimeMs, size }) => `${mtimeMs}:${size}`).join(' '),
  };
};

const notInstalled = (slug: string): NotLoaded =>
  new NotLoaded('unknown_model', `is not installed: no model ${slug} found`);

/** Throws NotLoaded if a check has found files in the folder damaged. */
const refuseDamaged = async (folder: string, why: string): Promise<void> => {
  if ((await folderOf(join(folder, DAMAGE_NOTE))) === null) return;
  throw new NotLoaded('refused_connection', `is not loaded: ${why}`);
};

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  });

/** Returns the real folder of a file; null if there is no such file. */
const folderOf = async (file: string): Promise<string | null> => {
  try {
    return dirname(await realpath(file));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
};
