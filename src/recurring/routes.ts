import { badRequest, resource } from '../kernel/route.js';
import { faultOfRecurrence, noteOfCron } from '../schedule/module.js';
import { recurring } from './contract.js';
import { previewTimes } from './rules.js';
import {
  addRecurring,
  fillTimezone,
  findRecurring,
  type RecurringDeps,
  runNow,
  updateRecurring,
} from './service.js';
import { viewRecurring, viewRun } from './view.js';

const DEFAULT_COUNT = 5;

export const recurringResource = (deps: RecurringDeps) => {
  const { rows, clock } = deps;

  return resource('recurring', recurring, {
    list: async ({ query }, { userId }) => {
      const page = await rows.list(userId, query);
      return { recurringTasks: page.rows.map(viewRecurring), nextCursor: page.nextCursor };
    },
    create: async ({ body }, by) => viewRecurring(await addRecurring(deps, by, body)),
    preview: async ({ body: { schedule, count = DEFAULT_COUNT } }) => {
      const recurrence = fillTimezone(schedule);
      const fault = await faultOfRecurrence(recurrence, clock.now());
      if (fault) throw badRequest([{ ...fault, path: `schedule.${fault.path}` }]);
      return {
        times: await previewTimes(recurrence, clock.now(), count),
        timezone: recurrence.timezone,
        note: noteOfCron(recurrence.cron ?? ''),
      };
    },
    get: async ({ id }, { userId }) => viewRecurring(await findRecurring(deps, userId, id)),
    update: async ({ id, body }, by) => viewRecurring(await updateRecurring(deps, by, id, body)),
    delete: async ({ id }, { userId }) => {
      if (!(await rows.delete(userId, id))) await findRecurring(deps, userId, id);
    },
    runs: async ({ id, query }, { userId }) => {
      await findRecurring(deps, userId, id);
      const page = await rows.runs(userId, id, query);
      return { runs: page.rows.map(viewRun), nextCursor: page.nextCursor };
    },
    run: async ({ id }, by) => viewRun(await runNow(deps, by, id)),
  });
};
