import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { loginOwner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const TASKS = 60;

describe('reminders of tasks, killed', () => {
  let home: string;
  let daemon: Daemon;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-tasks-'));
    daemon = await startDaemon({ home });
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true, force: true });
  });

  it('come once each, wherever the daemon ends', async () => {
    let owner = await registerOwner(daemon.url);
    const titles = Array.from({ length: TASKS }, (_, n) => `Task ${n}`);
    for (const [n, title] of titles.entries()) {
      const dueAt = new Date(Date.now() + 2000 + n * 40).toISOString();
      await owner.tasks.create({ body: { title, dueAt, reminderMinutes: 0 } });
    }
    const told = async (): Promise<string[]> => {
      const { notifications } = await owner.notifications.list({ query: { limit: 200 } });
      const reminders = notifications.filter(({ kind }) => kind === 'task_reminder');
      return reminders.map(({ title }) => title);
    };
    for (const count of [1, TASKS / 3, (2 * TASKS) / 3]) {
      await until(told, (all) => all.length >= count);
      await daemon.end('SIGKILL');
      daemon = await startDaemon({ home });
      owner = await loginOwner(daemon.url);
    }
    const all = await until(told, (found) => found.length >= TASKS);
    expect(all.sort()).to.equal(titles.sort());
  });
});
