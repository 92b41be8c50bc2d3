import { seedRun, seedTemplate } from '../../harness/template.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

const yamlOf = (name: string): string =>
  `name: ${name}\nstages:\n  - { key: now, kind: tool, config: { toolId: time, toolAction: now } }\n`;

/** A template; its name. */
const template = async ({ world, ada, name }: Scene): Promise<string[]> => {
  const made = name();
  await seedTemplate(world.app, ada.token, made);
  return [made];
};

/** The flag with a file of a template that is not there yet. */
const file = async ({ world, name }: Scene): Promise<string[]> => [
  '-f',
  await world.file(`${name()}.yaml`, yamlOf(name())),
];

/** A run that waits for a person; the end of its id, and the key of the stage. */
const waiting = async ({ world, ada, name }: Scene): Promise<[string, string]> => {
  const { id, key } = await seedRun(world.app, ada.token, name());
  return [id.slice(-6), key];
};
const runId = async (scene: Scene): Promise<string[]> => (await waiting(scene)).slice(0, 1);

/** A run that was stopped; the end of its id. */
const stopped = async (scene: Scene): Promise<string[]> => {
  const { id } = await seedRun(scene.world.app, scene.ada.token, scene.name());
  await scene.ada.client.pipelines.stop({ id });
  return [id.slice(-6)];
};

/** A run that asks for a title; the end of its id, the stage and a value. */
const asking = async ({ ada: { client }, name }: Scene): Promise<string[]> => {
  const fields = [{ key: 'title', label: 'Title', type: 'string' }];
  const stages = [{ key: 'form', kind: 'input' as const, config: { message: 'What?', fields } }];
  const { id: templateId } = await client.templates.create({ body: { name: name(), stages } });
  const { id } = await client.pipelines.start({ body: { templateId } });
  return [id.slice(-6), 'form', 'title=Spring'];
};

export const pipelines: Recipes = {
  'pipelines run': { words: template },
  'pipelines list': { needs: waiting },
  'pipelines get': { words: runId },
  'pipelines follow': { words: runId, exit: 3 },
  'pipelines stop': { words: runId },
  'pipelines retry': { words: stopped },
  'pipelines approve': { words: async (scene) => [...(await waiting(scene)), '--yes'] },
  'pipelines reject': { words: async (scene) => [...(await waiting(scene)), '--yes'] },
  'pipelines input': { words: asking },
  'pipelines validate': { words: file },
  'pipelines apply': { words: file, reply: 'pipelines templates create' },
  'pipelines diff': { words: file, exit: 1, json: 'nothing', isText: true },
  'pipelines templates list': { needs: template },
  'pipelines templates get': { words: template },
  'pipelines templates create': { words: file },
  'pipelines templates update': {
    words: async (scene) => [...(await template(scene)), '--description', 'Changed'],
  },
  'pipelines templates graph': { words: template, json: 'its own' },
  'pipelines templates delete': {
    words: async (scene) => [...(await template(scene)), '--yes'],
  },
};
