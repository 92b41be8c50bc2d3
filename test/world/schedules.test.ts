import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, startApp, type TestApp, until } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOW = Date.parse('2027-01-31T12:00:00.000Z');
const VIENNA = 'DTSTART;TZID=Europe/Vienna:20270208T073000';
const MONDAYS = 'RRULE:FREQ=WEEKLY;BYDAY=MO';
/** An event as a calendar exports it, with a zone of its own and folded lines. */
const EVENT = `BEGIN:VCALENDAR\r
VERSION:2.0\r
BEGIN:VTIMEZONE\r
TZID:Europe/Vienna\r
BEGIN:STANDARD\r
DTSTART:19701025T030000\r
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r
TZOFFSETFROM:+0200\r
TZOFFSETTO:+0100\r
END:STANDARD\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
UID:1@example.org\r
SUMMARY:Rubbish: put the bin out\r
DTSTART;TZID="Europe/Vienna":20270208T073000\r
DTEND;TZID="Europe/Vienna":20270208T080000\r
RRULE:FREQ=WEEKLY;BY\r
 DAY=MO\r
EXDATE;TZID=Europe/Vienna:20270215T073000\r
END:VEVENT\r
END:VCALENDAR\r
`;

describe('schedules as people have them', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp({ clock: frozenClock(NOW), config: { registration: 'open' } });
    ({ token } = await app.register('owner'));
  });
  after(() => app.stop());

  const post = async (path: string, body: object) =>
    (await app.call('POST', path, { token, body })).body;
  const preview = (schedule: object, count = 3) =>
    post('/api/recurring-tasks/preview', { schedule, count });
  const timesOf = async (rrule: string, timezone?: string) => {
    const given = timezone === undefined ? { rrule } : { rrule, timezone };
    const { times, timezone: zone, details } = await preview(given);
    if (times === undefined) return details;
    return [zone, ...times.map((time: string) => time.slice(5, 16))];
  };
  const faultOf = async (schedule: object) => (await preview(schedule)).details?.[0];
  const create = (schedule: object) =>
    post('/api/recurring-tasks', {
      title: 'Bin',
      schedule,
      action: 'notify',
      actionConfig: { notifyMessage: 'Now' },
    });

  describe('rules of calendars', () => {
    it('are taken with their zone, exceptions and additions', async () => {
      const skipping = ['02-08T06:30', '02-22T06:30', '03-01T06:30'];
      const zoned = ['Europe/Vienna', ...skipping];
      const exdate = 'EXDATE;TZID=Europe/Vienna:20270215T073000';
      expect(await timesOf(`${VIENNA}\n${MONDAYS}\n${exdate}`)).to.equal(zoned);
      expect(await timesOf(`${exdate}\n${MONDAYS}\n${VIENNA}`, 'Europe/Vienna')).to.equal(zoned);
      expect(await timesOf(EVENT)).to.equal(zoned);
      expect(await timesOf(`${VIENNA}\n${MONDAYS}\nEXDATE:20270215T063000Z`)).to.equal(zoned);
      expect(await timesOf(`${VIENNA}\n${MONDAYS}\nEXDATE;VALUE=DATE:20270215`)).to.equal(zoned);
      const daily =
        'DTSTART:20270208T073000\nRRULE:FREQ=DAILY\nEXDATE:20270209T073000,20270210T073000';
      expect(await timesOf(daily)).to.equal(['UTC', '02-08T07:30', '02-11T07:30', '02-12T07:30']);
      const added = `DTSTART:20270208T073000\n${MONDAYS}\nRDATE:20270210T073000`;
      expect(await timesOf(added)).to.equal(['UTC', '02-08T07:30', '02-10T07:30', '02-15T07:30']);
    });

    it('are taken from a date, in UTC, folded, and with the names of a registry', async () => {
      const utc = ['UTC', '02-08T06:30', '02-15T06:30', '02-22T06:30'];
      expect(await timesOf(`DTSTART;VALUE=DATE:20270208\n${MONDAYS}`)).to.equal([
        'UTC',
        '02-08T00:00',
        '02-15T00:00',
        '02-22T00:00',
      ]);
      expect(await timesOf(`DTSTART:20270208T063000Z\n${MONDAYS}`)).to.equal(utc);
      expect(await timesOf('DTSTART:20270208T063000\nRRULE:FREQ=WEEKLY;BY\n DAY=MO')).to.equal(utc);
      expect(await timesOf('DTSTART:20270208T063000\n  RRULE:FREQ=WEEKLY;BYDAY=MO')).to.equal(utc);
      const registry = 'DTSTART;TZID=/mozilla.org/20050126_1/Europe/Vienna:20270208T073000';
      expect(await timesOf(`${registry}\n${MONDAYS}`)).to.equal(['Europe/Vienna', ...utc.slice(1)]);
    });

    it('may have blanks between their parts', async () => {
      const times = ['UTC', '02-01T09:00', '02-02T09:00', '02-03T09:00'];
      expect(await timesOf('RRULE: FREQ=DAILY; BYHOUR=9; BYMINUTE=0; ')).to.equal(times);
    });

    it('may name the calendar that is meant anyway', async () => {
      const times = ['UTC', '02-08T07:30', '02-15T07:30', '02-22T07:30'];
      const rule = 'DTSTART:20270208T073000\nRRULE:RSCALE=GREGORIAN;FREQ=WEEKLY;BYDAY=MO';
      expect(await timesOf(`${rule};SKIP=OMIT`)).to.equal(times);
      expect((await faultOf({ rrule: 'RSCALE=HEBREW;FREQ=YEARLY' })).message).to.equal(
        'must have RSCALE=GREGORIAN, or no RSCALE',
      );
      expect((await faultOf({ rrule: 'FREQ=MONTHLY;SKIP=FORWARD' })).message).to.equal(
        'must have SKIP=OMIT, or no SKIP',
      );
    });

    it('have as many times as their count, though the first one has passed', async () => {
      expect(await timesOf('FREQ=DAILY;COUNT=1')).to.equal(['UTC', '02-01T12:00']);
      const two = ['UTC', '02-07T12:00', '02-14T12:00'];
      expect(await timesOf('FREQ=WEEKLY;BYDAY=SU;COUNT=2')).to.equal(two);
      const mondays = ['UTC', '02-01T12:00', '02-08T12:00'];
      expect(await timesOf('FREQ=WEEKLY;BYDAY=MO;COUNT=2')).to.equal(mondays);
      const first = 'DTSTART:20270131T120000\nRRULE:FREQ=DAILY;COUNT=2';
      expect(await timesOf(first)).to.equal(['UTC', '02-01T12:00']);
    });

    it('keep their zone and exceptions when they are saved', async () => {
      const rrule = `${VIENNA}\n${MONDAYS}\nEXDATE;TZID=Europe/Vienna:20270208T073000`;
      const { schedule, nextRunAt } = await create({ rrule });
      expect([schedule, nextRunAt]).to.equal([
        { rrule, timezone: 'Europe/Vienna' },
        '2027-02-15T06:30:00.000Z',
      ]);
    });

    it('are refused by the line that cannot be taken, with what to write', async () => {
      const faults: [string, string][] = [
        [
          `DTSTART;TZID=Customized Time Zone:20270208T073000\n${MONDAYS}`,
          'must have a known time zone in DTSTART, such as TZID=Europe/Berlin, not "Customized Time Zone"',
        ],
        [
          `${MONDAYS}\nRDATE;VALUE=PERIOD:20270208T073000/PT1H`,
          'must have times in RDATE, not periods. Example: RDATE:20260131T090000',
        ],
        [
          `${MONDAYS}\nEXRULE:FREQ=MONTHLY`,
          'must not have an EXRULE line. List the times in an EXDATE line',
        ],
        [
          `${MONDAYS}\nEXDATE:20270230T073000`,
          'must have a time in EXDATE such as EXDATE:20260131T090000, not "20270230T073000"',
        ],
        [
          `${EVENT}${EVENT}`,
          'must contain only one VEVENT or VTODO. Create a separate schedule for each event',
        ],
      ];
      for (const [rrule, message] of faults) {
        expect(await faultOf({ rrule }), rrule).to.equal({ path: 'schedule.rrule', message });
      }
      expect(await faultOf({ rrule: `${VIENNA}\n${MONDAYS}`, timezone: 'Asia/Tokyo' })).to.equal({
        path: 'schedule.rrule',
        message:
          'must have a DTSTART in Asia/Tokyo, not in TZID=Europe/Vienna. Alternatively, set timezone to Europe/Vienna',
      });
      const inUtc = { rrule: `DTSTART:20270208T063000Z\n${MONDAYS}`, timezone: 'Asia/Tokyo' };
      expect((await faultOf(inUtc)).message).to.equal(
        'must have a local DTSTART in Asia/Tokyo, without Z. Alternatively, set timezone to UTC',
      );
    });
  });

  describe('time zones with the names of Windows', () => {
    it('are those of the same clocks, wherever a time zone is set', async () => {
      const start = 'DTSTART;TZID="W. Europe Standard Time":20270208T073000';
      const zoned = ['Europe/Berlin', '02-08T06:30', '02-22T06:30', '03-01T06:30'];
      const exdate = 'EXDATE;TZID=W. Europe Standard Time:20270215T073000';
      expect(await timesOf(`${start}\n${MONDAYS}\n${exdate}`)).to.equal(zoned);
      const inUtc = ['UTC', '02-08T07:30', '02-15T07:30', '02-22T07:30'];
      const microsoft = 'DTSTART;TZID="tzone://Microsoft/Utc":20270208T073000';
      expect((await timesOf(`${microsoft}\n${MONDAYS}`)).slice(1)).to.equal(inUtc.slice(1));
      const eastern = { cron: '0 9 * * *', timezone: 'Eastern Standard Time' };
      const { schedule, nextRunAt } = await create(eastern);
      const expected = ['America/New_York', '2027-01-31T14:00:00.000Z'];
      expect([schedule.timezone, nextRunAt]).to.equal(expected);
      const hook = await createHook('0 9 * * *', { timezone: eastern.timezone });
      expect([hook.timezone, hook.nextRunAt]).to.equal(expected);
      const task = { title: 'Call', dueAt: '2027-02-01T09:00', timezone: eastern.timezone };
      expect(await post('/api/tasks', task)).to.include({
        timezone: 'America/New_York',
        dueAt: '2027-02-01T14:00:00.000Z',
      });
      const night = { enabled: false, from: '22:00', to: '07:00' };
      const quietHours = { ...night, timezone: 'India Standard Time' };
      const preferences = '/api/notifications/preferences';
      const { body } = await app.call('PUT', preferences, { token, body: { quietHours } });
      expect(body.quietHours.timezone).to.equal('Asia/Calcutta');
    });

    it('are no abbreviations that mean several zones', async () => {
      for (const timezone of ['BST', 'ist', 'AST', 'NST']) {
        const body = { quietHours: { start: '22:00', end: '07:00', timezone } };
        const { status } = await app.call('PUT', '/api/notifications/preferences', { token, body });
        expect([timezone, status]).to.equal([timezone, 400]);
      }
    });

    it('may be those that Outlook shows, or a whole number of hours', async () => {
      const zones: [string, string][] = [
        ['(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna', 'Europe/Amsterdam'],
        ['(GMT+01.00) Bern / Wien / Berlin / Roma / Stockholm', 'Europe/Berlin'],
        ['(UTC-05:00) Eastern Time (US & Canada)', 'America/New_York'],
        ['(UTC+00:00) Dublin, Edinburgh, Lisbon, London', 'Europe/Dublin'],
        ['(UTC) Dublin, Edinburgh, Lisbon, London', 'Europe/Dublin'],
        ['(UTC+10:00) Canberra, Melbourne, Sydney', 'Australia/Canberra'],
        ['(UTC-03:30) St. Johns', 'America/St_Johns'],
        ['(UTC-10:00) Hawaii', 'US/Hawaii'],
        ['(UTC+08:00) Urumqi, Hong Kong', 'Asia/Hong_Kong'],
        ['GMT+0100', 'Etc/GMT-1'],
        ['UTC-03:00', 'Etc/GMT+3'],
        ['GMT+0', 'GMT+0'],
        ['UTC+00:00', 'UTC'],
      ];
      for (const [name, zone] of zones) {
        const [used] = await timesOf(`DTSTART;TZID="${name}":20270208T073000\n${MONDAYS}`);
        expect([name, used]).to.equal([name, zone]);
      }
      const fixed = 'DTSTART;TZID=GMT+0100:20270208T073000';
      expect((await timesOf(`${fixed}\n${MONDAYS}`))[1]).to.equal('02-08T06:30');
      for (const name of ['(UTC+05:00) Berlin', 'GMT+0130', 'UTC+25', '(UTC+01:00) Nowhere']) {
        expect(await faultOf({ cron: '0 9 * * *', timezone: name }), name).to.equal({
          path: 'schedule.timezone',
          message: 'must be a time zone, as in "Europe/Berlin"',
        });
      }
      const changing = EVENT.replaceAll('Europe/Vienna', 'GMT+0100').replaceAll(
        'STANDARD',
        'DAYLIGHT',
      );
      expect((await faultOf({ rrule: changing })).message).to.equal(
        'must have a TZID such as TZID=Europe/Berlin instead of an offset, because its VTIMEZONE has DAYLIGHT',
      );
    });

    it('are refused if there is none', async () => {
      const unknown = { cron: '0 9 * * *', timezone: 'Mars Standard Time' };
      expect(await faultOf(unknown)).to.equal({
        path: 'schedule.timezone',
        message: 'must be a time zone, as in "Europe/Berlin"',
      });
    });
  });

  describe('times as programs write them', () => {
    it('are the same time in each form', async () => {
      for (const dueAt of [
        '2027-03-01T08:00:00.123456Z',
        '2027-03-01T10:00:00.123+0200',
        '2027-03-01 10:00:00.123456+02:00',
        '2027-03-01T10:00:00,123456789+02',
      ]) {
        const { dueAt: due, details } = await post('/api/tasks', { title: 'Call', dueAt });
        expect([due, details], dueAt).to.equal(['2027-03-01T08:00:00.123Z', undefined]);
        const { endsAt } = await post('/api/recurring-tasks', {
          ...{ title: 'Bin', schedule: { cron: '@daily' }, action: 'notify' },
          ...{ actionConfig: { notifyMessage: 'Now' }, endsAt: dueAt },
        });
        expect(endsAt, dueAt).to.equal('2027-03-01T08:00:00.123Z');
      }
      for (const dueAt of ['2027-02-30T09:00Z', '2027-03-01T09:00+2500', '1 March 2027']) {
        const { details } = await post('/api/tasks', { title: 'Call', dueAt });
        expect(details?.[0].path, dueAt).to.equal('dueAt');
      }
    });

    it('keep their offset in a query whose plus sign is not escaped', async () => {
      const { token } = await app.register('reader');
      const body = { title: 'Noon', text: 'Written at noon.' };
      await app.call('POST', '/api/knowledge', { token, body });
      const since = async (time: string) =>
        (await app.call('GET', `/api/knowledge?since=${time}`, { token })).body.entries?.length;
      expect(await since('2027-01-31T12:59:00+01:00')).to.equal(1);
      expect(await since('2027-01-31T13:01:00+01:00')).to.equal(0);
    });
  });

  describe('cron expressions', () => {
    const other = 'To run on one of the two only, set the other field to *';
    const NOTES: [cron: string, note: string | null][] = [
      [
        '15 8 8-14 * 2',
        'Runs on days 8 to 14, and on Tuesdays. For the second Tuesday only, use 15 8 * * 2#2',
      ],
      [
        '0 9 1-7 3 MON',
        'Runs on days 1 to 7, and on Mondays. For the first Monday only, use 0 9 * 3 1#1',
      ],
      ['0 9 1 * 1-5', `Runs on day 1, and on Mondays to Fridays. ${other}`],
      [
        '0 9 */5 * 0,6',
        `Runs on days 1, 6, 11, 16, 21, 26 and 31, and on Sundays and Saturdays. ${other}`,
      ],
      ['0 9 L * 5L', `Runs on the last day, and on the last Friday. ${other}`],
      ['0 9 1-7 * 1#1', `Runs on days 1 to 7, and on the first Monday. ${other}`],
      ['0 9 ? * 1', null],
      ['0 9 1-7 * *', null],
      [
        '*/45 * * * *',
        'Starts again at minute 0 of each hour: the last interval is 15 minutes, not 45',
      ],
      ['0 */7 * * *', 'Starts again at hour 0 of each day: the last interval is 3 hours, not 7'],
      ['*/15 */6 * * *', null],
      [
        '0 9 */2 * *',
        'Starts again on day 1 of each month: the last interval can be shorter than 2 days',
      ],
      [
        '0 9 31 * *',
        'Runs only in months that have a day 31. For the last day of each month, use L',
      ],
      ['0 9 31 12 *', null],
      ['0 9 28 * *', null],
      ['@weekly', null],
    ];

    it('say how they are read where it is not what many mean', async () => {
      for (const [cron, note] of NOTES) expect((await preview({ cron })).note, cron).to.equal(note);
      const [[cron, note] = ['', null]] = NOTES;
      const made = await create({ cron });
      expect(made.note).to.equal(note);
      const { body } = await app.call('GET', `/api/recurring-tasks/${made.id}`, { token });
      expect(body.note).to.equal(note);
      expect((await createHook(cron)).note).to.equal(note);
    });

    it('may be names such as @daily, or are refused with what to write', async () => {
      const { times } = await preview({ cron: '@daily' }, 1);
      expect(times).to.equal(['2027-02-01T00:00:00.000Z']);
      const fields = 'five fields: minute, hour, day, month and weekday, as in "30 9 * * 1-5"';
      const faults: [string, string][] = [
        [
          '0 9 * * 1/2',
          'must be five fields; "1/2" is not a valid weekday (0-7 or SUN-SAT). Use 1-6/2',
        ],
        ['5/15 9 * * *', 'must be five fields; "5/15" is not a valid minute (0-59). Use 5-59/15'],
        ['@reboot', `must be ${fields}, or one of @hourly, @daily, @weekly, @monthly or @yearly`],
      ];
      for (const [cron, message] of faults) {
        expect(await faultOf({ cron }), cron).to.equal({ path: 'schedule.cron', message });
      }
    });
  });

  let hooks = 0;
  const createHook = async (cron: string, more: object = {}) => {
    const body = {
      name: `hook ${++hooks}`,
      trigger: 'schedule',
      triggerConfig: { cron, ...more },
      action: 'notify',
      actionConfig: { notifyMessage: 'Now' },
    };
    const { id, triggerConfig } = await post('/api/hooks', body);
    return { id, ...triggerConfig };
  };

  const waitingRun = (id: string) =>
    until(
      async () => (await app.call('GET', `/api/pipelines/${id}`, { token })).body,
      ({ stages }) => stages[0].dueAt !== null,
    );

  describe('without a zone, on a machine in New York', () => {
    const usual = process.env.TZ;
    before(() => {
      process.env.TZ = 'America/New_York';
    });
    after(() => {
      if (usual === undefined) delete process.env.TZ;
      else process.env.TZ = usual;
    });

    it('are in UTC, alike for hooks and recurring tasks, and show it', async () => {
      const cron = '30 2 28 3 *';
      const hook = await createHook(cron);
      const { schedule, nextRunAt } = await create({ cron });
      expect([hook.timezone, hook.nextRunAt]).to.equal(['UTC', '2027-03-28T02:30:00.000Z']);
      expect([schedule.timezone, nextRunAt]).to.equal(['UTC', '2027-03-28T02:30:00.000Z']);
    });

    it('are in UTC where a stage waits, and ambiguous ones are refused', async () => {
      const template = (time: string) => ({
        name: `Until ${time}`,
        stages: [{ key: 'wait', kind: 'wait', config: { until: time } }],
      });
      for (const time of ['2027-03-01T09:00', '2027-03-01 09:00:00', '2027-03-01T04:00-05:00']) {
        const { id: templateId } = await post('/api/pipelines/templates', template(time));
        const { id } = await post('/api/pipelines', { templateId });
        const { stages } = await waitingRun(id);
        expect([time, stages[0].dueAt]).to.equal([time, '2027-03-01T09:00:00.000Z']);
      }
      for (const time of ['1.3.2027', 'March 1, 2027', '2027', '2027-02-30T09:00']) {
        const { details } = await post('/api/pipelines/templates', template(time));
        expect(details, time).to.equal([
          {
            path: 'stages.0.config.until',
            message: 'must be a time, such as 2026-12-31T09:00:00Z',
          },
        ]);
      }
    });

    it('are in UTC in a query, and where a permission expires', async () => {
      const { id } = await post('/api/knowledge', { title: 'Now', text: 'Written at noon.' });
      const since = async (time: string) =>
        (await app.call('GET', `/api/knowledge?since=${time}`, { token })).body.entries.length;
      expect(id).to.be.a.string();
      expect([await since('2027-01-31T11:59'), await since('2027-01-31T12:01')]).to.equal([1, 0]);
      const permission = { skillId: 'notify', action: 'send', level: 'ask' };
      const set = async (expiresAt: string) => {
        const body = { ...permission, expiresAt };
        return (await app.call('PUT', '/api/skills/permissions', { token, body })).body;
      };
      expect((await set('2027-03-01T09:00')).expiresAt).to.equal('2027-03-01T09:00:00.000Z');
      expect((await set('March 1, 2027')).details[0].path).to.equal('expiresAt');
    });

    it('keep the zone of the machine if an earlier version stored them', async () => {
      const { id } = await createHook('30 2 * * *');
      const stored = {
        trigger_config: JSON.stringify({ cron: '30 2 * * *' }),
        next_run_at: '2027-02-01T07:30:00.000Z',
      };
      await app.app.store.db.updateTable('hooks').set(stored).where('id', '=', id).execute();
      await app.restart();
      const { body } = await app.call('GET', `/api/hooks/${id}`, { token });
      expect(body.triggerConfig).to.equal({
        cron: '30 2 * * *',
        timezone: 'America/New_York',
        nextRunAt: '2027-02-01T07:30:00.000Z',
        note: null,
      });
    });

    it('keep the zone that they had when another time is set', async () => {
      const { id } = await createHook('30 2 * * *', { timezone: 'Asia/Tokyo' });
      const body = { triggerConfig: { cron: '30 3 * * *' } };
      const changed = (await app.call('PUT', `/api/hooks/${id}`, { token, body })).body;
      expect(changed.triggerConfig).to.include({
        timezone: 'Asia/Tokyo',
        nextRunAt: '2027-01-31T18:30:00.000Z',
      });
    });
  });
});
