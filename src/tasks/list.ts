import type { Base } from '../base.js';
import { searchWords } from '../kernel/searchwords.js';
import { readTaskPreferences } from '../outbound/module.js';
import type { Page, PageInput } from '../store/page.js';
import type { TaskRow } from '../store/tables/tasks.js';
import type { TasksDeps } from './deps.js';
import { dueRange } from './dues.js';
import { tasksStore } from './queries.js';
import type { ListedTask } from './selections.js';

export interface TaskQuery extends PageInput {
  view?: 'next' | undefined;
  due?: 'overdue' | 'today' | 'week' | undefined;
  status?: TaskRow['status'] | undefined;
  tag?: string | undefined;
  parentId?: string | undefined;
  q?: string | undefined;
}

export const listTasks = async (
  { tasks, clock, preferencesOf }: TasksDeps,
  userId: string,
  { q, view, due, ...filter }: TaskQuery,
): Promise<Page<ListedTask>> => {
  const { timezone } = await preferencesOf(userId);
  await tasks.settleZone(userId, timezone);
  return tasks.list(userId, {
    ...filter,
    words: q === undefined ? null : await searchWords(q),
    range: due === undefined ? null : dueRange(due, timezone, clock.now()),
    isNext: view === 'next',
  });
};

export const readDueTasks = async (
  { store, clock }: Base,
  userId: string,
  limit: number,
): Promise<ListedTask[]> => {
  const tasks = tasksStore(store);
  const { timezone } = await readTaskPreferences(store, userId);
  await tasks.settleZone(userId, timezone);
  const { to } = dueRange('today', timezone, clock.now());
  const range = { from: null, to };
  return (await tasks.list(userId, { limit, words: null, range, isNext: false })).rows;
};
