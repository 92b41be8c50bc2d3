import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type FrozenClock, frozenClock, PASSWORD, startApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';

const HOUR_MS = 3_600_000;
/** The time before a recurring task begins at which it is made. */
const BEFORE_MS = 30_000;

/** A recurring task of a test, and its due times by a table, in milliseconds. */
export interface TimedTask {
  title: string;
  schedule: { cron?: string; rrule?: string; timezone: string };
  from: number;
  to: number;
  times: number[];
}

/** What the clock does from `from` to `to`, between the random events. */
export interface Course {
  from: number;
  to: number;
  /** The changes of clocks: this near to each of them no due time is passed over. */
  changes: number[];
  nearMs: number;
  /** The longest step elsewhere. With an hour by which the clock is wrong, it has at most a hundred times. */
  longestMs: number;
  /** How likely a step is followed by a restart, or by a clock that is wrong by an hour. */
  chanceOfEvent: number;
}

/** Returns a sequence of numbers from 0 to 1 that is the same in every run. */
const chances = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
};

type Firing = Awaited<ReturnType<typeof openFiring>>;

/** Opens a daemon whose due times fire as soon as the clock has reached them. */
const openFiring = async (clock: FrozenClock) => {
  const config = { tokenHours: 720, retentionDays: 0, backupEvery: 0 };
  const app = await startApp({ clock, checkedReplies: 0, config });
  let { token } = await app.register('ada');
  const tick = async (): Promise<void> => {
    for (const source of inside(app.app).recurring) await source.tick();
  };
  const ask = async (method: string, path: string, body: object) => {
    const reply = await app.call(method, path, { token, body });
    if (reply.status !== 401) return reply;
    const login = { username: 'ada', password: PASSWORD };
    token = (await app.call('POST', '/api/auth/login', { body: login })).body.token;
    return app.call(method, path, { token, body });
  };

  return {
    database: join(app.home, 'adjutant.db'),
    /** Makes or changes a recurring task. */
    change: async (method: string, path: string, body: object): Promise<string> => {
      const reply = await ask(method, `/api/recurring-tasks${path}`, body);
      if (reply.status > 201) throw new Error(`${method} ${path}: ${reply.text}`);
      return reply.body.id;
    },
    tick,
    settled: async (): Promise<void> => {
      const [first] = inside(app.app).recurring;
      for (;;) {
        const next = (await first?.nextAt()) ?? null;
        if (next === null || Date.parse(next) > clock.now()) return;
        await tick();
      }
    },
    restart: () => app.restart(),
    stop: () => app.stop(),
  };
};

/** Creates what happens at random: restarts, and a clock that is wrong by an hour for a while. */
const createEvents = (
  { change, tick, settled, restart }: Firing,
  of: { clock: FrozenClock; chance(): number; ids: Map<TimedTask, string> },
) => {
  const { clock, chance, ids } = of;
  const counts = { restarts: 0, early: 0, late: 0 };
  /** Has the next due time of a recurring task computed anew, by a change of a person. */
  const recompute = async (now: number): Promise<void> => {
    const begun = [...ids].filter(([{ times }]) => (times[0] ?? now) < now);
    const under = begun.filter(([{ times }]) => (times.at(-1) ?? 0) > now);
    const [, id] = under[Math.floor(chance() * under.length)] ?? [];
    if (id === undefined) return;
    await change('PATCH', `/${id}`, { enabled: false });
    await change('PATCH', `/${id}`, { enabled: true });
  };
  const begin = async (): Promise<void> => {
    counts.restarts++;
    await restart();
  };
  const isWrongBy = async (ms: number): Promise<void> => {
    const now = clock.now();
    clock.shift(ms);
    await settled();
    await tick();
    if (ms > 0) clock.shift(-ms);
    await recompute(now);
    if (chance() < 0.3) await begin();
    await settled();
    if (ms < 0) clock.shift(-ms);
  };
  return {
    counts,
    happen: async (): Promise<void> => {
      const which = chance();
      if (which < 1 / 3) return begin();
      const isEarly = which < 2 / 3;
      counts[isEarly ? 'early' : 'late']++;
      await isWrongBy(isEarly ? HOUR_MS : -HOUR_MS);
    },
  };
};

/** Opens a daemon on a database on disk whose clock the test moves, with recurring tasks of the API. */
export const openTimeline = async (tasks: TimedTask[], course: Course) => {
  const chance = chances(7);
  const clock = frozenClock(course.from - BEFORE_MS);
  const firing = await openFiring(clock);
  const ids = new Map<TimedTask, string>();
  const events = createEvents(firing, { clock, chance, ids });
  const waiting = [...tasks].sort((one, other) => one.from - other.from);
  const stops = stopsOf(waiting, course);

  const make = async (task: TimedTask): Promise<void> => {
    const { title, schedule, to } = task;
    const actionConfig = { notifyMessage: title, notifyOwner: false };
    const endsAt = new Date(to - 1).toISOString();
    const given = { title, schedule, action: 'notify', actionConfig, missed: 'all', endsAt };
    ids.set(task, await firing.change('POST', '', given));
  };
  const stepFrom = (now: number): number => {
    const isNear = course.changes.some((at) => Math.abs(at - now) <= course.nearMs);
    const stop = stops.find((at) => at > now) ?? course.to;
    const next = Math.min(...[...ids.keys()].map(({ times }) => firstAfter(times, now)));
    if (isNear || next > stop) return Math.min(stop, next) - now;
    const random = now + Math.ceil((chance() * course.longestMs) / 60_000) * 60_000;
    return Math.min(stop, random) - now;
  };

  return {
    /** Moves the clock to the end, and counts the events. */
    run: async () => {
      while (clock.now() < course.to) {
        const begins = waiting.filter(({ from }) => from - BEFORE_MS <= clock.now());
        for (const task of waiting.splice(0, begins.length)) await make(task);
        clock.forward(stepFrom(clock.now()));
        if (chance() < course.chanceOfEvent) await events.happen();
        await firing.settled();
      }
      return events.counts;
    },
    /** Returns the due times of the recurring tasks that are not those of the table. */
    differences: (): object[] => differencesIn(firing.database, tasks),
    stop: firing.stop,
  };
};

/** Returns the first of the rising times after `now`; infinite if there is none. */
const firstAfter = (times: number[], now: number): number => {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) > now) high = middle;
    else low = middle + 1;
  }
  return times[low] ?? Number.POSITIVE_INFINITY;
};

/** Returns the times that no step passes over: where a task begins, and before changes of clocks. */
const stopsOf = (tasks: TimedTask[], { changes, nearMs }: Course): number[] => {
  const stops = [...tasks.map(({ from }) => from - BEFORE_MS), ...changes.map((at) => at - nearMs)];
  return stops.sort((one, other) => one - other);
};

const differencesIn = (path: string, tasks: TimedTask[]): object[] => {
  const db = new Database(path, { readonly: true });
  const runs = db
    .prepare(
      `SELECT t.title, r.due_at, r.status FROM recurring_runs AS r
        JOIN recurring_tasks AS t ON t.id = r.recurring_task_id`,
    )
    .all() as { title: string; due_at: string; status: string }[];
  db.close();
  return tasks.flatMap(({ title, times }) => {
    const own = runs.filter((run) => run.title === title);
    const due = new Set(times.map((at) => new Date(at).toISOString()));
    const fired = new Set(own.map(({ due_at }) => due_at));
    const odd = {
      missing: [...due].filter((at) => !fired.has(at)),
      unexpected: [...fired].filter((at) => !due.has(at)),
      twice: own.length - fired.size,
      unsuccessful: own.filter(({ status }) => status !== 'success').length,
    };
    const count = odd.missing.length + odd.unexpected.length + odd.twice + odd.unsuccessful;
    return count === 0 ? [] : [{ title, ...odd }];
  });
};
