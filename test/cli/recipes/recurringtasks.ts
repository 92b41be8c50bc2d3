import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

/** A recurring task; its title. */
const recurring = async ({ ada, name }: Scene): Promise<string[]> => {
  const title = name();
  const schedule = { cron: '0 9 * * 1' };
  const actionConfig = { notifyMessage: 'The report is due.' };
  await ada.client.recurring.create({ body: { title, schedule, action: 'notify', actionConfig } });
  return [title];
};

/** The same, which has run once. */
const run = async (scene: Scene): Promise<string[]> => {
  const [title = ''] = await recurring(scene);
  const { recurringTasks } = await scene.ada.client.recurring.list();
  const id = recurringTasks.find((each) => each.title === title)?.id ?? '';
  await scene.ada.client.recurring.run({ id });
  return [title];
};

const times = ['--cron', '0 9 * * 1', '--timezone', 'Europe/Berlin'];

export const recurringTasks: Recipes = {
  'recurring list': { needs: recurring },
  'recurring get': { words: recurring },
  'recurring create': {
    words: ({ name }) => [
      ...[name(), ...times, '--action', 'notify'],
      ...['--notify-message', 'The report is due.'],
    ],
  },
  'recurring update': { words: async (scene) => [...(await recurring(scene)), '--missed', 'all'] },
  'recurring enable': { words: recurring, reply: 'recurring update' },
  'recurring disable': { words: recurring, reply: 'recurring update' },
  'recurring run': { words: recurring },
  'recurring runs': { words: run },
  'recurring preview': { words: () => times },
  'recurring delete': { words: async (scene) => [...(await recurring(scene)), '--yes'] },
};
