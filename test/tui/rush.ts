import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../src/client/index.js';
import { saveSession } from '../../src/client/session.js';
import { live } from '../../src/client/socket.js';
import { systemClock } from '../../src/kernel/clock.js';
import { openConfig } from '../cli/config.js';
import { PASSWORD, sign } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { notice, SECRET } from '../harness/hooks.js';
import { openTmux, type Tmux } from '../harness/tmux.js';

const BIN = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
/** Each delivery causes two events: its arrival and its outcome. */
const EVENTS_EACH = 2;

/** The desk on a terminal, and a daemon whose hook receives numbered deliveries. */
export interface Rush {
  tmux: Tmux;
  /** From the start of the desk to its first frame, in milliseconds. */
  firstMs: number;
  /** Milliseconds from a key until that text is sent to the terminal. */
  press(key: string, text: string): Promise<number>;
  /**
   * Sends deliveries at that event rate during `meanwhile`. Resolves to the number of the last one.
   */
  pour(eventsPerSecond: number, meanwhile: () => Promise<void>): Promise<number>;
  /** Events reported by the daemon since the first delivery. */
  events(): number;
  /** Number of screen clears within the desk's own screen. */
  wipes(): number;
  /** CPU time of all threads since the start, in milliseconds. */
  cpuMs(): number;
  rssMb(): number;
  /** Numbers of the deliveries in the live list, as shown. */
  shown(): Promise<number[]>;
  /** Kills the daemon and restarts it after that time, with the same port and home. */
  kill(downMs: number): Promise<void>;
  close(): Promise<void>;
}

export const openRush = async (width: number, height: number): Promise<Rush> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-rush-'));
  const config = await openConfig();
  const end = new AbortController();
  let daemon = await startDaemon({ home });
  const { url } = daemon;
  const token = await prepare(url);
  const tmux = await openTmux({
    width,
    height,
    env: { XDG_CONFIG_HOME: config.folder, ADJUTANT_URL: url },
  });
  const screen = listenTo(tmux);
  const firstMs = await screen.press(`node ${BIN} tui --theme dark`, 'Enter', 'Overview]');
  const pid = await tmux.pidOf('adjutant.js tui');
  await tmux.wait('live');
  const wipesBefore = screen.wipes();
  const counted = countEvents(url, token, end.signal);
  let last = 0;
  const next = (): number => {
    last += 1;
    return last;
  };
  return {
    tmux,
    firstMs,
    press: (key, text) => screen.press(key, '', text),
    pour: async (eventsPerSecond, meanwhile) => {
      const poured = pour(url, eventsPerSecond / EVENTS_EACH, next);
      try {
        await meanwhile();
      } finally {
        await poured.stop();
      }
      return last;
    },
    events: counted.events,
    wipes: () => screen.wipes() - wipesBefore,
    cpuMs: () => cpuMsOf(pid),
    rssMb: () => rssMbOf(pid),
    shown: async () =>
      [...(await tmux.frame()).matchAll(/ n(\d{6})\b/g)].map(([, number]) => Number(number)),
    kill: async (downMs) => {
      await daemon.end('SIGKILL');
      await pause(downMs);
      daemon = await startDaemon({ home, env: { ADJUTANT_PORT: new URL(url).port } });
    },
    close: async () => {
      end.abort();
      await tmux.close();
      await stopDaemon(daemon);
      await config.close();
      await rm(home, { recursive: true, force: true });
    },
  };
};

const stopDaemon = (daemon: Daemon): Promise<unknown> => daemon.end('SIGKILL');

/** A logged-in account and its hook. */
const prepare = async (url: string): Promise<string> => {
  const client = createClient({ url });
  const { token } = await client.auth.register({ body: { username: 'ada', password: PASSWORD } });
  saveSession(url, { token, username: 'ada', expiresAt: '2126-01-01T00:00:00.000Z' });
  await client.with({ token }).request({
    method: 'POST',
    path: '/api/hooks',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(notice()),
  });
  return token;
};

/** Output to the terminal, and keys with a wait for their effect. */
const listenTo = (tmux: Tmux) => {
  let wipes = 0;
  let seen = '';
  let look = (): void => {};
  const { press } = tmux.attach((output) => {
    seen = (seen + output).slice(-60_000);
    wipes += output.split(/\u001b\[[23]J/).length - 1;
    look();
  });
  const sees = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Never seen: ${text}`)), MAX_MS);
      look = () => {
        if (!seen.includes(text)) return;
        clearTimeout(timer);
        resolve();
      };
      look();
    });
  return {
    wipes: () => wipes,
    press: async (line: string, key: string, text: string): Promise<number> => {
      seen = '';
      const since = performance.now();
      press(line);
      if (key !== '') press(key);
      await sees(text);
      return performance.now() - since;
    },
  };
};
/** Later effects count as a failure, in milliseconds. */
const MAX_MS = 20_000;

/** Sends the next number at that rate. An unacknowledged one is sent again. */
const pour = (url: string, perSecond: number, next: () => number) => {
  const begun = performance.now();
  const under = new Set<Promise<void>>();
  let count = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - begun) / 1000) * perSecond;
    while (count < due) {
      count += 1;
      const sent = send(url, next()).finally(() => under.delete(sent));
      under.add(sent);
    }
  }, 1000 / perSecond);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(under);
    },
  };
};

const send = async (url: string, number: number): Promise<void> => {
  const body = JSON.stringify({ n: number });
  const name = `n${String(number).padStart(6, '0')}`;
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': sign(SECRET, body),
    'x-github-delivery': name,
    'x-github-event': name,
  };
  for (;;) {
    try {
      const path = `${url}/api/webhooks/issues`;
      const { status } = await fetch(path, { method: 'POST', body, headers });
      if (status < 300) return;
    } catch (error) {
      // The daemon is down. The same delivery is sent again and counts once.
      if (!(error instanceof TypeError)) throw error;
    }
    await pause(100);
  }
};

const countEvents = (url: string, token: string, signal: AbortSignal) => {
  let events = 0;
  const count = async (): Promise<void> => {
    const options = { url, token, channels: ['hook.execution'], signal, clock: systemClock };
    for await (const note of live(options)) if (note.type === 'event') events += 1;
  };
  count().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return { events: () => events };
};

/** A kernel tick is ten milliseconds. */
const cpuMsOf = (pid: number): number => {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = after.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

const rssMbOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
