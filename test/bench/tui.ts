import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';

/**
 * The desk under 100 events a second: share of a core, memory, and how long a key takes until it is
 * seen. `node dist/test/bench/tui.js [seconds] [columns] [rows]`; it needs `script` and Linux.
 */
const [seconds = 60, columns = 80, rows = 24] = process.argv.slice(2).map(Number);
const PER_SECOND = 100;
const BIN = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));

const replies: Record<string, unknown> = {
  '/health': { status: 'ok', version: '1.0.0', uptimeSeconds: 1 },
  '/health/detailed': { status: 'ok', version: '1.0.0', uptimeSeconds: 1, parts: [] },
  '/api/auth/me': { username: 'ada', role: 'admin' },
};
const empty = {
  hooks: [],
  agents: [],
  approvals: [],
  notifications: [],
  unreadCount: 0,
  nextCursor: null,
};

/** A daemon that knows nothing and tells much. */
const daemon = createServer((request, response) => {
  const path = request.url?.split('?')[0] ?? '';
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(replies[path] ?? empty));
});
const sockets = new WebSocketServer({ server: daemon });
sockets.on('connection', (socket) => {
  socket.on('message', () => socket.send(JSON.stringify({ type: 'subscribed', channels: [] })));
  let n = 0;
  const timer = setInterval(() => {
    n += 1;
    const data = {
      id: `execution_${n}`,
      hookName: 'github-issues',
      event: 'issues.opened',
      status: n % 9 === 0 ? 'error' : 'success',
      error: n % 9 === 0 ? `number ${n} failed` : null,
      at: new Date().toISOString(),
    };
    socket.send(JSON.stringify({ type: 'hook.execution', data }));
  }, 1000 / PER_SECOND);
  socket.on('close', () => clearInterval(timer));
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The desk on a terminal of that size, what it writes, and what it is typed. */
const openDesk = (url: string, config: string) => {
  const line = `stty cols ${columns} rows ${rows}; exec node ${BIN} tui --url ${url}`;
  const own = { XDG_CONFIG_HOME: config, ADJUTANT_TOKEN: 'x', LANG: 'C.UTF-8' };
  const child = spawn('script', ['-qfc', line, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm-256color', ...own },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let seen = '';
  let wipes = 0;
  let look = (): void => {};
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen = (seen + text).slice(-20_000);
    wipes += text.split('\u001b[2J').length - 1;
    look();
  });
  const sees = (text: string): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (seen.includes(text)) resolve();
      };
      look();
    });
  /** How long it takes, in milliseconds, until what a key shows is seen. */
  const press = async (key: string, text: string): Promise<number> => {
    seen = '';
    const at = performance.now();
    child.stdin.write(key);
    await sees(text);
    return performance.now() - at;
  };
  const quit = async (): Promise<void> => {
    child.stdin.write('\u0003');
    await new Promise((resolve) => child.once('exit', resolve));
  };
  return { sees, press, quit, wipes: () => wipes };
};

/** Help is opened and closed for that long; every key's milliseconds, the shortest first. */
const typeFor = async (desk: ReturnType<typeof openDesk>): Promise<number[]> => {
  const keys: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    for (const text of ['Help: ', 'Needs you']) {
      keys.push(await desk.press('?', text));
      await pause(200 + Math.random() * 50);
    }
  }
  return keys.sort((a, b) => a - b);
};

const main = async (): Promise<void> => {
  await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve));
  const address = daemon.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const config = mkdtempSync(join(tmpdir(), 'adjutant-bench-'));
  const begun = performance.now();
  const desk = openDesk(url, config);
  await desk.sees('Overview]');
  const firstMs = performance.now() - begun;
  await desk.sees('github-issues');
  const pid = Number(execFileSync('pgrep', ['-nf', `adjutant.js tui --url ${url}`]).toString());
  await pause(3000);
  const [before, since] = [ticksOf(pid), performance.now()];
  const keys = await typeFor(desk);
  const cpu = ((ticksOf(pid) - before) * 1000) / (performance.now() - since);
  const ms = (share: number) => (keys[Math.floor(keys.length * share)] ?? 0).toFixed(1);
  console.log(`${columns}x${rows}, ${PER_SECOND} events/s for ${seconds} s`);
  console.log(
    `first frame ${firstMs.toFixed(0)} ms, cpu ${cpu.toFixed(1)} %, rss ${rssOf(pid)} MB`,
  );
  console.log(`key to frame p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, wipes ${desk.wipes() - 1}`);
  await desk.quit();
  sockets.close();
  daemon.closeAllConnections();
  daemon.close();
  rmSync(config, { recursive: true });
};

/** Hundredths of a second on a core. */
const ticksOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
};
const rssOf = (pid: number): number =>
  Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  );

await main();
