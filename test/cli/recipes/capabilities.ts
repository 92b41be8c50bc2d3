import { join } from 'node:path';
import { placeCapability } from '../../harness/capability.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

const installed = async ({ world, name }: Scene): Promise<string[]> => [
  await placeCapability(world.app.home, name()),
];

/** A model of Ollama that does not answer; its name. */
const local = async ({ ada, silent, name }: Scene): Promise<string> => {
  const body = { name: name(), provider: 'ollama' as const, modelId: 'fake', baseUrl: silent.url };
  const { name: made } = await ada.client.models.create({ body });
  return made;
};

/** Languages of Tesseract that do not come with the daemon. */
const LANGUAGES = ['ita', 'pol', 'por', 'swe', 'fin', 'ell', 'hun', 'nld', 'ces', 'dan'];
let at = 0;

/** Ollama's usual port must not decide what is listed; nothing is fetched in tests. */
export const capabilities: Recipes = {
  'capabilities list': { needs: installed },
  'capabilities install': {
    words: () => [`tesseract:${LANGUAGES[at++ % LANGUAGES.length]}`, '--no-wait'],
  },
  'capabilities verify': { words: async (scene) => [...(await installed(scene)), '--no-wait'] },
  'capabilities measure': { words: async (scene) => [await local(scene), '--no-wait'] },
  'capabilities delete': {
    words: async (scene) => [...(await installed(scene)), '--yes'],
    json: 'nothing',
  },
  'capabilities export': {
    words: async (scene) => [
      ...(await installed(scene)),
      ...['--to', join(scene.world.app.home, scene.name())],
    ],
    json: 'nothing',
  },
  hardware: {},
  // The source folder contains nothing.
  'models recommend': { json: 'nothing', answers: ['n'], exit: 1 },
};
