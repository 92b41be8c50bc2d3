import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { folderFindings } from '../../../src/system/doctor/rules.js';
import { type FrozenClock, frozenClock, startApp, type TestApp, until } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE_MS = 60_000;
const STANDS = 'adjutant logs --last 50, then: adjutant restart';

describe('the doctor, of folders', () => {
  const late = 'The folder is scanned every ten minutes: the limit of watched folders is reached';
  const cases: [error: string, detail: RegExp, remedy: string][] = [
    [
      `${late}. Raise fs.inotify.max_user_watches`,
      /^\/srv\/my notes is read, but changes are noticed late: The folder is scanned every ten minutes/,
      "sudo sysctl fs.inotify.max_user_watches=524288   then: adjutant knowledge index '/srv/my notes' --on-server",
    ],
    [
      'The folder is scanned every ten minutes: the limit of watching programs is reached. Raise fs.inotify.max_user_instances',
      /is read, but changes are noticed late/,
      "sudo sysctl fs.inotify.max_user_instances=524288   then: adjutant knowledge index '/srv/my notes' --on-server",
    ],
    [
      'The folder is scanned every ten minutes: the folder contains more than 20000 folders',
      /is read, but changes are noticed late/,
      'index only the subfolders that change, one by one',
    ],
    [
      'The folder is gone',
      /^\/srv\/my notes cannot be read: The folder is gone$/,
      "adjutant knowledge folders list   To retry: adjutant knowledge index '/srv/my notes' --on-server",
    ],
  ];
  for (const [error, detail, remedy] of cases) {
    it(`names what helps: ${error}`, () => {
      const [finding] = folderFindings([{ path: '/srv/my notes', error }]);
      expect(finding).to.include({ name: 'folders', status: 'warn', remedy });
      expect(finding?.detail).to.match(detail);
    });
  }
});

describe('the doctor, of recurring tasks and pipelines', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let admin: string;
  let token: string;
  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock, config: { tokenHours: 720 } });
    admin = (await app.register('ada')).token;
    token = (await app.register('bob')).token;
  });
  after(() => app.stop());

  const findings = async (): Promise<object[]> => {
    const { body } = await app.call('GET', '/api/admin/doctor', { token: admin });
    const own = ['work', 'recurring', 'pipelines'];
    return body.findings.filter(({ name }: { name: string }) => own.includes(name));
  };
  const make = async (path: string, body: object): Promise<string> => {
    const reply = await app.call('POST', path, { token, body });
    expect(reply.status, reply.text).to.equal(201);
    return reply.body.id;
  };
  const recurring = (given: object): Promise<string> =>
    make('/api/recurring-tasks', { title: 'x', schedule: { cron: '0 * * * *' }, ...given });
  const run = async (stage: object): Promise<string> => {
    const stages = [{ key: 'one', ...stage }];
    const templateId = await make('/api/pipelines/templates', { name: `${clock.now()}`, stages });
    return make('/api/pipelines', { templateId });
  };

  it('finds nothing where all is well', async () => {
    await recurring({ action: 'notify', actionConfig: { notifyMessage: 'x' } });
    expect(await findings()).to.equal([]);
  });

  it('finds the recurring tasks whose last run failed, until one succeeds', async () => {
    const hook = {
      ...{ name: 'h', trigger: 'schedule', triggerConfig: { cron: '0 0 1 1 *' } },
      ...{ action: 'notify', actionConfig: { notifyMessage: 'x' } },
    };
    const hookId = await make('/api/hooks', hook);
    const id = await recurring({ action: 'run_hook', actionConfig: { hookId } });
    await app.call('DELETE', `/api/hooks/${hookId}`, { token });
    await app.call('POST', `/api/recurring-tasks/${id}/run`, { token });
    expect(await findings()).to.equal([
      {
        ...{ name: 'recurring', status: 'warn', detail: `the last run failed: ${id} (bob)` },
        remedy:
          'adjutant recurring list   For the reason, as its owner: adjutant recurring runs <id>',
      },
    ]);
    const body = { action: 'notify', actionConfig: { notifyMessage: 'x' } };
    await app.call('PATCH', `/api/recurring-tasks/${id}`, { token, body });
    await app.call('POST', `/api/recurring-tasks/${id}/run`, { token });
    expect(await findings()).to.equal([]);
    await app.call('DELETE', `/api/recurring-tasks/${id}`, { token });
  });

  it('finds the recurring tasks that are due and do not fire', async () => {
    const [source] = inside(app.app).recurring;
    if (!source) throw new Error('There is no source');
    const { tick } = source;
    source.tick = async () => undefined;
    const { body } = await app.call('GET', '/api/recurring-tasks', { token });
    const [{ id, nextRunAt }] = body.recurringTasks;
    clock.forward(Date.parse(nextRunAt) + 5 * MINUTE_MS - clock.now());
    expect(await findings()).to.equal([]);
    clock.forward(1);
    const detail = `overdue by more than five minutes: ${id} (bob)`;
    expect(await findings()).to.equal([
      { name: 'recurring', status: 'fail', detail, remedy: STANDS },
    ]);
    source.tick = tick;
    await app.call('DELETE', `/api/recurring-tasks/${id}`, { token });
    expect(await findings()).to.equal([]);
  });

  it('finds the runs that are due and do not go on', async () => {
    const { due } = app.app.modules.pipelines;
    const { tick } = due;
    due.tick = async () => undefined;
    const id = await run({ kind: 'wait', config: { seconds: 60 } });
    clock.forward(6 * MINUTE_MS);
    expect(await findings()).to.equal([]);
    clock.forward(1);
    const detail = `stuck for more than five minutes: ${id} (bob)`;
    expect(await findings()).to.equal([
      { name: 'pipelines', status: 'fail', detail, remedy: STANDS },
    ]);
    due.tick = tick;
    await until(
      () => {
        clock.forward(1000);
        return findings();
      },
      (left) => left.length === 0,
    );
  });

  it('finds the runs that wait for an answer for over a day', async () => {
    const id = await run({ kind: 'approval', config: { message: 'Go on?' } });
    clock.forward(24 * 60 * MINUTE_MS);
    expect(await findings()).to.equal([]);
    clock.forward(1);
    expect(await findings()).to.equal([
      {
        ...{ name: 'pipelines', status: 'warn' },
        detail: `waiting for their owners for more than a day: ${id} (bob)`,
        remedy:
          'adjutant pipelines list --status waiting   As its owner: adjutant pipelines get <id>',
      },
    ]);
  });

  it('leaves the counts to the overview of their owner', async () => {
    await recurring({ action: 'notify', actionConfig: { notifyMessage: 'x' } });
    const { body } = await app.call('GET', '/api/overview', { token });
    const [{ nextRunAt }] = (await app.call('GET', '/api/recurring-tasks', { token })).body
      .recurringTasks;
    expect([body.pipelines, body.recurring]).to.equal([
      { open: 1, waiting: 1 },
      { enabled: 1, nextAt: nextRunAt },
    ]);
    const other = (await app.call('GET', '/api/overview', { token: admin })).body;
    expect([other.pipelines, other.recurring]).to.equal([
      { open: 0, waiting: 0 },
      { enabled: 0, nextAt: null },
    ]);
  });
});
