import { keepTemplate } from '../../harness/template.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

const yamlOf = (name: string): string =>
  `name: ${name}\nstages:\n  - { key: now, kind: tool, config: { toolId: time, toolAction: now } }\n`;

/** A template; its name. */
const template = async ({ world, ada, name }: Scene): Promise<string[]> => {
  const made = name();
  await keepTemplate(world.app, ada.token, made);
  return [made];
};

/** The flag with a file of a template that is not there yet. */
const file = async ({ world, name }: Scene): Promise<string[]> => [
  '-f',
  await world.file(`${name()}.yaml`, yamlOf(name())),
];

export const pipelines: Recipes = {
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
