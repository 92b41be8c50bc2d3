import type { Client } from '../../../src/client/client.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

const named = async (scene: Scene): Promise<string[]> => [await scene.hook()];
const doomed = async (scene: Scene): Promise<string[]> => [await scene.hook(), '--yes'];
const ran = async (scene: Scene): Promise<string[]> => {
  const { hook, execution } = await scene.run();
  return [hook, execution];
};

/** A hook whose sender makes a token. */
const AWAITING = { triggerConfig: { webhookPath: 'pages', verify: 'notion' as const } };
const idOf = async (client: Client, name: string): Promise<string> => {
  const { hooks: found } = await client.hooks.list({ query: { limit: 200 } });
  return found.find((hook) => hook.name === name)?.id ?? '';
};

/** The run of a hook that began an agent. */
export const hooks: Recipes = {
  'hooks list': { needs: (scene) => scene.run() },
  'hooks get': { words: named },
  'hooks create': {
    words: ({ name }) => {
      const path = name();
      return [
        ...['--name', path, '--trigger', 'webhook', '--webhook-path', path],
        ...['--action', 'notify', '--notify-message', '{{event}} came'],
      ];
    },
    json: 'its own',
  },
  'hooks update': { words: async (scene) => [await scene.hook(), '--cooldown-ms', '60000'] },
  'hooks delete': { words: doomed },
  'hooks enable': { words: named },
  'hooks disable': { words: named },
  'hooks executions': { words: async (scene) => [(await scene.run()).hook] },
  'hooks execution': { words: ran },
  'hooks recent': { needs: (scene) => scene.run() },
  'hooks find': { words: async (scene) => [(await scene.run()).execution] },
  'hooks refused': { words: named },
  'hooks settings': { words: named, json: 'its own' },
  'hooks send': {
    words: async (scene) => [
      ...[await scene.hook(), '--sample', 'github/push'],
      ...['--secret-file', '-'],
    ],
    stdin: 'a secret of the scene',
    isOpen: true,
  },
  'hooks listen': { until: /Listening/, json: 'lines', exit: 130 },
  'hooks test': { words: async (scene) => [await scene.hook()] },
  'hooks replay': { words: ran },
  'hooks rotate-secret': { words: named },
  'hooks await-token': {
    words: async (scene, { client }) => {
      const [name = ''] = await named(scene);
      await client.hooks.update({ id: await idOf(client, name), body: AWAITING });
      return [name];
    },
    until: /Waiting for a token/,
    json: 'nothing',
    exit: 130,
  },
};
