import { writeFile } from 'node:fs/promises';
import { uploadAudio } from '../../../src/client/upload.js';
import { until } from '../../harness/app.js';
import { silentWav } from '../../harness/speech.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

/** More transcriptions than are decoded at once. */
const MANY = 2;

const send = ({ ada, name }: Scene) =>
  uploadAudio(ada.client, { filename: `${name()}.wav`, content: silentWav() }, {});

/** A transcription that has ended; the end of its id. */
const transcribed = async (scene: Scene): Promise<string[]> => {
  const { id } = await send(scene);
  await until(
    () => scene.ada.client.voice.get({ id, query: { wait: 30 } }),
    ({ status }) => status !== 'queued' && status !== 'running',
  );
  return [id.slice(-6)];
};

/** A transcription that others are before; the end of its id. */
const waiting = async (scene: Scene): Promise<string[]> => {
  const sent = [];
  for (let n = 0; n < MANY; n++) sent.push(await send(scene));
  return [sent.at(-1)?.id.slice(-6) ?? ''];
};

export const voice: Recipes = {
  'voice transcribe': {
    words: async ({ world, name }) => {
      const path = await world.file(`${name()}.wav`, '');
      await writeFile(path, silentWav());
      return [path];
    },
    isText: true,
    json: 'its own',
  },
  'voice list': { needs: transcribed },
  'voice get': { words: transcribed, isText: true },
  'voice cancel': { words: waiting },
  'voice delete': { words: async (scene) => [(await send(scene)).id.slice(-6), '--yes'] },
};
