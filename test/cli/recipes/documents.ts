import { uploadDocuments } from '../../../src/client/upload.js';
import { until } from '../../harness/app.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

/** More documents than are read at once. */
const MANY = 4;
const LIMIT_MS = 60_000;

const send = async ({ ada, name }: Scene, count: number) => {
  const files = Array.from({ length: count }, () => {
    const filename = `${name()}.txt`;
    return { filename, content: Buffer.from(`Lanterns for ${filename}`) };
  });
  return (await uploadDocuments(ada.client, files, {})).documents;
};

/** A document that has been read; the end of its id. */
const uploaded = async (scene: Scene): Promise<string[]> => {
  const [{ id = '' } = {}] = await send(scene, 1);
  await until(
    () => scene.ada.client.documents.get({ id }),
    ({ status }) => status === 'completed',
    LIMIT_MS,
  );
  return [id.slice(-6)];
};

/** A document that others are read before; the end of its id. */
const waiting = async (scene: Scene): Promise<string[]> => {
  const documents = await send(scene, MANY);
  return [documents.at(-1)?.id.slice(-6) ?? ''];
};

/** A document that may not have been read yet; the end of its id. */
const unread = async (scene: Scene): Promise<string[]> => {
  const [{ id = '' } = {}] = await send(scene, 1);
  return [id.slice(-6)];
};

export const documents: Recipes = {
  'documents list': { needs: uploaded },
  'documents get': { words: uploaded },
  'documents upload': {
    words: async ({ world, name }) => [await world.file(`${name()}.txt`, `Brass ${name()}`)],
    json: 'its own',
  },
  'documents text': { words: uploaded, json: 'nothing', isText: true },
  'documents download': {
    words: async (scene) => [...(await uploaded(scene)), '-'],
    json: 'nothing',
    isText: true,
  },
  'documents update': { words: async (scene) => [...(await uploaded(scene)), '--tags', 'work'] },
  'documents reprocess': { words: uploaded },
  'documents cancel': { words: waiting },
  'documents delete': { words: async (scene) => [...(await unread(scene)), '--yes'] },
};
