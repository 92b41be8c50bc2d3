import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Client, TaskView } from '../../src/client/index.js';
import { messageView } from '../../tui/frame/bars.js';
import { plainRowText } from '../../tui/parts/row.js';
import { taskPage } from '../../tui/screens/tasks/task.js';
import { tasksPage } from '../../tui/screens/tasks/tasks.js';
import { computeBodySize, messageHeight } from '../../tui/state/layout.js';
import { loaders } from '../../tui/state/loaders.js';
import { taskTarget } from '../../tui/state/locations.js';
import type { StateAction } from '../../tui/state/state.js';
import { known, listLoaded, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const aTask = (title: string, over: Partial<TaskView> = {}): TaskView => ({
  ...{
    id: title,
    orgId: null,
    title,
    notes: null,
    status: 'open',
    priority: 0,
    tags: [],
    assignee: 'me',
  },
  ...{ due: null, dueAt: null, timezone: 'Europe/Berlin', reminderMinutes: null, reminderAt: null },
  ...{ parentId: null, blockedBy: [], recurringTaskId: null, untrusted: false, completedAt: null },
  ...{ source: { kind: 'person', id: null } },
  ...{ createdAt: '2026-02-01T00:00:00.000Z', updatedAt: '2026-02-01T00:00:00.000Z' },
  ...over,
});

describe('the due time of a task', () => {
  const { TZ } = process.env;
  beforeEach(() => {
    process.env.TZ = 'UTC';
  });
  afterEach(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  // It is 1 March 2026, 12:00 UTC.
  const tasks = [
    aTask('Bank', { dueAt: '2026-03-01T17:00:00.000Z' }),
    aTask('Trip', { dueAt: '2026-09-05T16:00:00.000Z' }),
    aTask('Party', { dueAt: '2027-01-01T23:30:00.000Z', timezone: 'Asia/Tokyo' }),
    aTask('Backup', { dueAt: '2026-03-01T17:00:00.000Z', timezone: 'Etc/UTC' }),
    aTask('Base', { dueAt: '2026-03-01T17:00:00.000Z', timezone: 'Mars/Base' }),
    aTask('Rent', { due: '2026-03-30' }),
    aTask('Post', { due: '2026-03-02', timezone: 'Pacific/Kiritimati' }),
  ];
  const state = () => known([{ type: 'ui.root', root: 'tasks' }, ...listLoaded('tasks', tasks)]);

  it('is shown by the clock of its own zone, named where it differs from that here', () => {
    const rows = shown(tasksPage.view, state(), 80, 30).slice(2, 10);
    expect(rows).to.equal([
      '  STATE  DUE                         TITLE           PRIORITY  TAGS',
      '> open   today 18:00 CET             Bank',
      '  open   Sat 5 Sep 18:00 CEST        Trip',
      '  open   Sat 2 Jan 2027 08:30 GMT+9  Party',
      '  open   today 17:00                 Backup',
      '  open   today 17:00                 Base',
      '  open   Mon 30 Mar                  Rent',
      '  open   today                       Post',
    ]);
  });

  it('has the whole name of the zone in its details, and none where the clocks agree', () => {
    const due = (title: string) => {
      const opened = known([
        { type: 'ui.went', ...taskTarget(title) },
        ...listLoaded('tasks', tasks),
      ]);
      return taskPage
        .text?.(opened, 80)
        ?.map(plainRowText)
        .find((line) => line.startsWith('Due'));
    };
    expect(['Bank', 'Backup', 'Rent'].map(due)).to.equal([
      'Due  today 18:00 CET (Europe/Berlin)',
      'Due  today 17:00',
      'Due  Mon 30 Mar (Europe/Berlin)',
    ]);
    process.env.TZ = 'Europe/Berlin';
    expect(['Bank', 'Backup', 'Base', 'Rent'].map(due)).to.equal([
      'Due  today 18:00',
      'Due  today 17:00 UTC (Etc/UTC)',
      'Due  today 17:00 UTC (Mars/Base)',
      'Due  Mon 30 Mar',
    ]);
  });

  it('is not cut beside a pane', () => {
    const rows = shown(tasksPage.view, state(), 120, 30).slice(2, 6);
    expect(rows.map((row) => row.slice(0, 54).trimEnd())).to.equal([
      '  STATE  DUE                         TITLE',
      '> open   today 18:00 CET             Bank',
      '  open   Sat 5 Sep 18:00 CEST        Trip',
      '  open   Sat 2 Jan 2027 08:30 GMT+9  Party',
    ]);
  });
});

describe('a task on the desk', () => {
  it('names the task of which it is a part, which is read if it is in no list', async () => {
    const part = aTask('Book the hotel', { parentId: 'task_09' });
    const parent = aTask('Plan the trip', { id: 'task_09' });
    const need = { is: 'list' as const, list: 'parents' as const, of: 'task_09' };
    const opened = [
      { type: 'ui.root' as const, root: 'tasks' as const },
      ...listLoaded('tasks', [part]),
    ];
    const rows = (...more: StateAction[]) =>
      shown(tasksPage.view, known([...opened, ...more]), 80, 24).join('\n');
    expect(rows()).to.not.contain('task_09');
    expect(tasksPage.needs(known(opened))).to.include(need);
    expect(rows(...listLoaded('parents', [parent], 'task_09'))).to.contain(
      'Part of  Plan the trip',
    );
    const listed = known([...opened, ...listLoaded('tasks', [part, parent])]);
    expect(tasksPage.needs(listed)).to.not.include(need);
    const client = { tasks: { get: async () => parent } } as unknown as Client;
    const { rows: read } = await loaders.parents.page(client, { of: 'task_09', cursor: undefined });
    expect(read).to.equal([parent]);
    const page = known([
      { type: 'ui.went', ...taskTarget(part.id) },
      ...listLoaded('tasks', [part]),
    ]);
    expect(taskPage.needs(page)).to.include(need);
  });

  it('shows the whole of a long message, such as why it is not completed', () => {
    const text = `The task has open parts: ${'word '.repeat(14)}--cascade completes them with it`;
    const state = known([{ type: 'ui.said', message: { text, tone: 'danger' } }], 80, 24);
    const rows = messageView(state, { width: 80, height: 2 }).map(plainRowText);
    expect(rows.join(' ')).to.equal(text);
    expect([rows.length, messageHeight(state), computeBodySize(state).height]).to.equal([2, 2, 18]);
  });

  it('is read when it was opened from a place that has read no tasks', async () => {
    const state = known([{ type: 'ui.went', ...taskTarget('task_01') }]);
    expect(taskPage.needs(state)[0]).to.equal({ is: 'list', list: 'tasks', of: 'task_01' });
    const asked: unknown[] = [];
    const get = async (input: unknown): Promise<Partial<TaskView>> => {
      asked.push(input);
      return { id: 'task_01' };
    };
    const client = { tasks: { get } } as unknown as Parameters<typeof loaders.tasks.page>[0];
    const { rows } = await loaders.tasks.page(client, { of: 'task_01', cursor: undefined });
    expect(rows.map(({ id }) => id)).to.equal(['task_01']);
    expect(asked).to.equal([{ id: 'task_01' }]);
  });
});
