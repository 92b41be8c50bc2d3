import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, NamedError } from '../../../kernel/failure.js';
import type { ModelFailureKind } from '../model.js';

/** The message continues after the name of the model. */
export class NotLoaded extends NamedError {
  constructor(
    readonly kind: ModelFailureKind,
    message: string,
  ) {
    super(message);
  }
}

export interface ModelFiles {
  /** Contains node-llama-cpp in its node_modules. */
  engine: string;
  path: string;
  bytes: number;
  /** Changes with the files. */
  fingerprint: string;
}

/** Marks a model or the engine as damaged. */
export const DAMAGE_FILE = 'damaged.txt';

/** With the remedy. */
export const damageMessage = (slug: string, whose = 'Its file is'): string =>
  `${whose} damaged. Reinstall it with: adjutant capabilities install ${slug}`;

const LIST_INSTALLED = 'adjutant capabilities list --kind model --installed';

export const damagedFileAdvice = (path: string): string =>
  `Verify an installed model: adjutant capabilities verify ${basename(dirname(path))}. Replace a file that you placed there yourself`;

const SLUG = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const MODEL_FILE = /^model(?:-\d{5}-of-\d{5})?\.gguf$/;

export const isSlug = (text: string): boolean => SLUG.test(text);

/** Throws NotLoaded, without a path: users who are not admins see it. */
export const findModelFiles = async (capabilities: string, slug: string): Promise<ModelFiles> => {
  try {
    return await readModelFiles(capabilities, slug);
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof NotLoaded || code === '') throw error;
    throw new NotLoaded('refused_connection', `was not loaded: its files cannot be read (${code})`);
  }
};

const readModelFiles = async (capabilities: string, slug: string): Promise<ModelFiles> => {
  const folder = join(capabilities, slug);
  const names = isSlug(slug) ? await modelFilesIn(folder) : [];
  const [first] = names;
  if (first === undefined) throw notInstalled(slug);
  await refuseDamaged(folder, damageMessage(slug, 'its file is'));
  const engine = await findRealFolder(
    join(capabilities, 'llama/node_modules/node-llama-cpp/package.json'),
  );
  if (engine === null) {
    const remedy = 'adjutant capabilities install llama';
    throw new NotLoaded(
      'refused_connection',
      `needs the engine llama (llama.cpp), which is not installed. Run: ${remedy}`,
    );
  }
  await refuseDamaged(
    join(capabilities, 'llama'),
    damageMessage('llama', 'the files of llama are'),
  );
  const paths = names.map((name) => join(folder, name));
  const [path, ...stats] = await Promise.all([
    realpath(join(folder, first)),
    ...paths.map((each) => stat(each)),
  ] as const).catch((error: unknown) => {
    throw errorCode(error) === 'ENOENT' ? notInstalled(slug) : error;
  });
  const other = names.find((_, at) => !stats[at]?.isFile());
  if (other !== undefined) {
    const remedy = `adjutant capabilities install ${slug}`;
    throw new NotLoaded(
      'refused_connection',
      `was not loaded: ${other} is not a regular file. Reinstall the model with: ${remedy}`,
    );
  }
  return {
    engine: dirname(dirname(engine)),
    path,
    bytes: stats.reduce((sum, { size }) => sum + size, 0),
    fingerprint: stats.map(({ mtimeMs, size }) => `${mtimeMs}:${size}`).join(' '),
  };
};

/** The first file of a model, whether it was installed or placed there by hand. */
export const findFirstModelFile = async (
  capabilities: string,
  slug: string,
): Promise<string | null> => {
  const folder = join(capabilities, slug);
  const [first] = isSlug(slug) ? await modelFilesIn(folder) : [];
  return first === undefined ? null : join(folder, first);
};

const modelFilesIn = async (folder: string): Promise<string[]> =>
  (await namesIn(folder)).filter((each) => MODEL_FILE.test(each)).sort();

const notInstalled = (slug: string): NotLoaded =>
  new NotLoaded(
    'unknown_model',
    `needs ${slug}, which is not installed. See the installed models: ${LIST_INSTALLED}`,
  );

const refuseDamaged = async (folder: string, why: string): Promise<void> => {
  if ((await findRealFolder(join(folder, DAMAGE_FILE))) === null) return;
  throw new NotLoaded('refused_connection', `was not loaded: ${why}`);
};

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  });

const findRealFolder = async (file: string): Promise<string | null> => {
  try {
    return dirname(await realpath(file));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
};
