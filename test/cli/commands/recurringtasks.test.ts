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

  it('gives a person the address of the calendar of tasks', async () => {
    const { stdout } = await world.cli(['tasks', 'feed', 'create'], { terminal: 80 });
    expect(stdout).to.match(/^http:\/\/127\.0\.0\.1:\d+\/api\/tasks\.ics\?token=\S+\n$/);
  });
});
