import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

describe('adjutant recurring', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  beforeEach(async () => void (await world.arrive()));
  after(() => world.stop());

  const cli = async (...words: string[]) => {
    const { code, stdout, stderr } = await world.cli([...words, '--json']);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };

  it('changes what a flag says, and keeps the rest of a schedule and of an action', async () => {
    const action = ['--action', 'create_task', '--priority', '2', '--due-in-minutes', '60'];
    const schedule = ['--cron', '0 9 * * *', '--timezone', 'Europe/Berlin'];
    await cli('recurring', 'create', 'report', ...schedule, ...action);
    const sooner = await cli('recurring', 'update', 'report', '--due-in-minutes', '30');
    expect(sooner.actionConfig).to.equal({ priority: 2, dueInMinutes: 30 });
    const earlier = await cli('recurring', 'update', 'report', '--cron', '0 8 * * *');
    expect(earlier.schedule).to.equal({ cron: '0 8 * * *', timezone: 'Europe/Berlin' });
    const other = ['--action', 'notify', '--notify-message', 'Write it'];
    const changed = await cli('recurring', 'update', 'report', ...other);
    expect(changed.actionConfig).to.equal({ notifyMessage: 'Write it' });
  });

  it('asks on a terminal for what is missing, and for nothing else', async () => {
    const guided = async (words: string[], answers: string[]) => {
      const { code, stderr } = await world.cli(['recurring', 'create', ...words], {
        ...{ terminal: 100, answers },
      });
      expect([code, stderr]).to.match(/^0,/);
      const { recurringTasks } = await world.client.recurring.list({ query: {} });
      const { title, schedule, action, actionConfig } = recurringTasks[0] ?? {};
      return [title, schedule, action, actionConfig];
    };
    const zone = 'Europe/Berlin';
    const at = ['0 9 * * 1-5', zone];
    expect(await guided([], ['Standup', ...at, '5', '', 'In ten minutes'])).to.equal([
      ...['Standup', { cron: '0 9 * * 1-5', timezone: zone }, 'notify'],
      { notifyMessage: 'In ten minutes' },
    ]);
    const rule = ['--timezone', zone, '--action', 'create_task'];
    expect(await guided(['Water', ...rule], ['FREQ=DAILY;BYHOUR=9'])).to.equal([
      ...['Water', { rrule: 'FREQ=DAILY;BYHOUR=9', timezone: zone }, 'create_task', {}],
    ]);
    const cron = ['--cron', '0 9 * * *', '--action'];
    const template = ['preset_release_notes', '2.1', 'Faster', ''];
    const [, , , config] = await guided(['Notes', ...cron, 'start_pipeline'], template);
    expect(config).to.include({ templateId: 'preset_release_notes' });
    expect(Object(config).params).to.include({ version: '2.1', changes: 'Faster' });
    const piped = await world.cli(['recurring', 'create', 'x', '--cron', '0 9 * * *']);
    expect([piped.code, piped.stderr]).to.match(/^2,.*\n {2}--action +is missing/);
  });

  it('gives a person the address of the calendar of tasks', async () => {
    const { stdout } = await world.cli(['tasks', 'feed', 'create'], { terminal: 80 });
    expect(stdout).to.match(/^http:\/\/127\.0\.0\.1:\d+\/api\/tasks\.ics\?token=\S+\n$/);
  });
});
