import { noteOfCron } from '../schedule/module.js';
import {
  type RecurringRunRow,
  type RecurringTaskRow,
  recurringRunTable,
  recurringTaskTable,
} from '../store/tables/recurringtasks.js';
import { viewer } from '../store/view.js';
import { RecurringRun, RecurringTask } from './contract.js';

export const viewRun: (row: RecurringRunRow) => RecurringRun = viewer(
  recurringRunTable,
  RecurringRun,
  {},
);

export const viewRecurring: (row: RecurringTaskRow) => RecurringTask = viewer(
  recurringTaskTable,
  RecurringTask,
  {
    actionConfig: ({ action_config }: RecurringTaskRow) => JSON.parse(action_config),
    note: ({ schedule }: RecurringTaskRow) => noteOfCron(JSON.parse(schedule).cron ?? ''),
  },
);
