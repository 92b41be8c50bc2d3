import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('adjutant recurring', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(async () => void (await world.arrive()));

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

  it('shows times by the clocks of the time zone on a terminal, and UTC in a pipe', async () => {
    // The clocks of that zone go back in the night to the 27th.
    const times = ['--rrule', 'DTSTART:21261026T093000\nRRULE:FREQ=DAILY;COUNT=3'];
    const words = [...times, '--timezone', 'Europe/Berlin'];
    const shown = await world.cli(['recurring', 'preview', ...words], { terminal: 80 });
    expect(shown.stdout.trimEnd().split('\n')).to.equal([
      'Sat 2126-10-26 09:30 +02:00',
      'Sun 2126-10-27 09:30 +01:00',
      'Mon 2126-10-28 09:30 +01:00',
    ]);
    const created = ['recurring', 'create', 'night', ...words, '--action', 'notify'];
    const made = await world.cli([...created, '--notify-message', 'Now'], { terminal: 80 });
    expect(made.stderr).to.equal('Created. Next run: Sat 2126-10-26 09:30 +02:00.\n');
    const saved = ['recurring', 'preview', 'night'];
    const piped = await world.cli([...saved, '--count', '1']);
    expect(piped.stdout).to.equal('2126-10-26T07:30:00.000Z\n');
    const json = await world.cli([...saved, '--count', '1', '--json']);
    expect(JSON.parse(json.stdout)).to.equal({
      ...{ times: ['2126-10-26T07:30:00.000Z'], timezone: 'Europe/Berlin', note: null },
    });
    const elsewhere = [...saved, '--count', '1', '--timezone', 'UTC'];
    expect((await world.cli(elsewhere, { terminal: 80 })).stdout).to.equal(
      'Sat 2126-10-26 09:30 +00:00\n',
    );
    const both = await world.cli([...saved, '--cron', '0 9 * * *']);
    expect([both.code, both.stderr]).to.equal([
      2,
      'Pass either a recurring task, or --cron or --rrule.\n',
    ]);
  });

  it('says what a run began, and shows when it is next due on a narrow terminal', async () => {
    const cron = ['--cron', '0 9 1 1 *', '--timezone', 'America/Argentina/Buenos_Aires'];
    const action = ['--action', 'create_task', '--priority', '2'];
    await cli('recurring', 'create', 'the report of the week', ...cron, ...action);
    const begun = await world.cli(['recurring', 'run', 'the report of the week'], { terminal: 80 });
    const [task] = (await world.client.tasks.list({ query: {} })).tasks;
    const short = task?.id.slice(-6);
    expect(begun.stderr).to.equal(`Started: task ${short}. Show it: adjutant tasks get ${short}\n`);
    const runs = await world.cli(['recurring', 'runs', 'the report of the week'], { terminal: 80 });
    expect(runs.stdout).to.contain(`  task ${short}`);
    const list = await world.cli(['recurring', 'list'], { terminal: 80 });
    const [head = '', row = ''] = list.stdout.split('\n');
    expect(head.split(/ +/).slice(0, 6)).to.equal([
      ...['SHORT', 'TITLE', 'STATE', 'NEXT', 'LAST', 'SCHEDULE'],
    ]);
    expect(row).to.match(/ {2}\d{4}-01-0\d \d{2}:00 {2}/);
  });

  it('gives a person the address of the calendar of tasks', async () => {
    const { stdout } = await world.cli(['tasks', 'feed', 'create'], { terminal: 80 });
    expect(stdout).to.match(/^http:\/\/127\.0\.0\.1:\d+\/api\/tasks\.ics\?token=\S+\n$/);
  });
});
