import { CustomReply } from '../kernel/contract/endpoint.js';
import { resource } from '../kernel/route.js';
import { deleteTask, reopenTask, updateTask } from './change.js';
import { completeTask } from './complete.js';
import { tasks } from './contract.js';
import { createTask } from './create.js';
import { type DelegatingDeps, delegateTask } from './delegate.js';
import { findTask, type TasksDeps } from './deps.js';
import type { TaskFeed } from './feed.js';
import { listTasks } from './list.js';
import { viewTask } from './view.js';
import { MANUAL_AUTHOR } from './writes.js';

interface TasksResourceDeps {
  deps: TasksDeps;
  delegating: DelegatingDeps;
  feed: TaskFeed;
  /** Returns the public address, such as `https://example.com`. */
  origin(): string;
}

const PERSON = { kind: 'person' as const, id: null };

export const tasksResource = ({ deps, delegating, feed, origin }: TasksResourceDeps) =>
  resource('tasks', tasks, {
    list: async ({ query }, { userId }) => {
      const { rows, nextCursor } = await listTasks(deps, userId, query);
      return { tasks: rows.map(viewTask), nextCursor };
    },
    get: async ({ id }, { userId }) => viewTask(await findTask(deps, userId, id)),
    create: ({ body }, { userId }) =>
      createTask(deps, userId, body, { author: MANUAL_AUTHOR, source: PERSON }),
    update: ({ id, body }, { userId }) =>
      updateTask(deps, userId, id, { changes: body, author: MANUAL_AUTHOR }),
    delete: ({ id, query: { cascade = false } }, { userId }) =>
      deleteTask(deps, userId, id, { cascade }),
    complete: ({ id, query: { cascade = false } }, { userId }) =>
      completeTask(deps, userId, id, { cascade, author: MANUAL_AUTHOR }),
    reopen: ({ id }, { userId }) => reopenTask(deps, userId, id),
    delegate: ({ id, body }, by) => delegateTask(delegating, by, id, body),
    feed: async (_input, by) => {
      const token = await feed.make(by);
      return { token, url: `${origin()}/api/tasks.ics?token=${token}` };
    },
    'end-feed': (_input, by) => feed.end(by),
    calendar: async ({ query: { token = '' } }) =>
      new CustomReply(200, await feed.read(token), {
        'cache-control': 'private, max-age=300',
        'content-disposition': 'inline; filename="tasks.ics"',
      }),
  });
