import { entryNames } from '../../../cli/entries.js';
import type { Endpoint } from '../../../src/kernel/contract/endpoint.js';
import { resources } from '../../harness/api.js';
import { account } from './account.js';
import { agents } from './agents.js';
import { capabilities } from './capabilities.js';
import { daemon } from './daemon.js';
import { documents } from './documents.js';
import { email } from './email.js';
import { hooks } from './hooks.js';
import { orgs } from './orgs.js';
import { pipelines } from './pipelines.js';
import type { Recipes } from './recipe.js';
import { recurringTasks } from './recurringtasks.js';
import type { Scene } from './scene.js';
import { things } from './things.js';
import { voice } from './voice.js';

/** The words that give a body by the flags of its fields. */
const flagsOf = (body: object): string[] =>
  Object.entries(body).flatMap(([field, value]) => {
    const flag = `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return [flag, Array.isArray(value) ? value.join() : String(value)];
  });

/** How the commands of a resource are tried by the examples of its contract. */
const recipesOf = (resource: string, create: Endpoint, update: Endpoint): Recipes => {
  const sample = (scene: Scene) => ({ ...Object(create.example), name: scene.name() });
  const made = async (scene: Scene): Promise<string> => {
    const body = sample(scene);
    await scene.ada.client.call(create, { body });
    return body.name;
  };
  return {
    [`${resource} list`]: { needs: made },
    [`${resource} get`]: { words: async (scene) => [await made(scene)] },
    [`${resource} create`]: {
      words: (scene) => {
        const { name, ...rest } = sample(scene);
        return [name, ...flagsOf(rest)];
      },
    },
    [`${resource} update`]: {
      words: async (scene) => [await made(scene), ...flagsOf(Object(update.example))],
    },
    [`${resource} delete`]: { words: async (scene) => [await made(scene), '--yes'] },
  };
};

const given: Recipes = {
  ...account,
  ...agents,
  ...capabilities,
  ...daemon,
  ...documents,
  ...email,
  ...hooks,
  ...orgs,
  ...pipelines,
  ...recurringTasks,
  ...things,
  ...voice,
};

/** Resources of which nothing says how their commands are tried. */
const byContract = resources.flatMap(({ name, contract: { list, get, create, update } }) =>
  entryNames().includes(name) &&
  list &&
  get &&
  create?.example &&
  update?.example &&
  !Object.keys(given).some((path) => ` ${path}`.includes(` ${name} `))
    ? [recipesOf(name, create, update)]
    : [],
);

/** How every command is tried, by its words. */
export const recipes: Recipes = Object.assign({}, ...byContract, given);
