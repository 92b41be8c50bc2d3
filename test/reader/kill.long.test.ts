import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Where the daemon is killed: what has come of a page then, or the milliseconds since all has. */
const MOMENTS = [
  ...(['nothing', 'head', 'half', 'hop', 'behind hop'] as const),
  ...[0, 20, 60, 150, 400],
];
type Moment = (typeof MOMENTS)[number];

/** A server whose answers come to a halt at a moment, until it is told to go on. */
const startPages = async () => {
  let halt: Moment | null = null;
  const pages = await listen(({ url = '' }, response) => {
    const isAt = (moment: Moment): boolean => halt === moment;
    if (url.startsWith('/hop')) {
      if (isAt('hop')) return;
      response.writeHead(302, { location: url.replace('hop', 'page') }).end();
      return;
    }
    if (isAt('nothing') || isAt('behind hop')) return;
    response.setHeader('content-type', 'text/html');
    if (isAt('head')) response.flushHeaders();
    else if (isAt('half')) response.write('<p>he');
    else response.end(`<title>T</title><p>here is ${url}</p>`);
  });
  return {
    ...pages,
    haltAt: (moment: Moment | null): void => {
      halt = moment;
    },
  };
};

describe('the reader, killed', () => {
  let home: string;
  let pages: Awaited<ReturnType<typeof startPages>>;
  let daemon: Daemon;
  let owner: Awaited<ReturnType<typeof registerOwner>>;
  const start = () => startDaemon({ home, env: { ADJUTANT_EGRESS_ALLOW: pages.entry } });
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-reader-'));
    pages = await startPages();
    daemon = await start();
    owner = await registerOwner(daemon.url);
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await pages.close();
    await rm(home, { recursive: true, force: true });
  });

  /** Has a page read, and kills the daemon at a moment; resolves to the id of the task. */
  const killAt = async (moment: Moment, at: number): Promise<string> => {
    pages.haltAt(moment);
    const page = `/page${at}`;
    const path = String(moment).endsWith('hop') ? `/hop${at}` : page;
    const awaited = moment === 'hop' ? path : page;
    const before = pages.got.length;
    const { id } = await owner.reader.read({ body: { url: `${pages.origin}${path}`, wait: 0 } });
    await until(
      async () => pages.got.slice(before).map(({ path: asked }) => asked),
      (got) => got.includes(awaited),
    );
    if (typeof moment === 'number') await pause(moment);
    await daemon.end('SIGKILL');
    pages.haltAt(null);
    daemon = await start();
    owner = owner.with({ url: daemon.url });
    return id;
  };

  const endOf = (id: string) =>
    until(
      () => owner.reader.get({ id }),
      ({ status }) => status !== 'running' && status !== 'queued',
      30_000,
    );

  it('reads what it was reading, once it is back, and keeps it once', async () => {
    const ids: string[] = [];
    for (const [at, moment] of MOMENTS.entries()) {
      const id = await killAt(moment, at);
      ids.push(id);
      const { status, content } = await endOf(id);
      expect([status, content], `${moment}`).to.equal(['completed', `here is /page${at}`]);
      const asked = pages.got.filter(({ path }) => path === `/page${at}`).length;
      expect(asked, `${moment}`).to.be.within(1, 2);
    }
    const { tasks } = await owner.reader.list();
    expect(tasks.map(({ id }) => id).sort()).to.equal([...ids].sort());
  });
});
