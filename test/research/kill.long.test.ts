import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { hangs } from '../harness/openai.js';
import {
  queriesOf,
  quotingReport,
  type ResearchTask,
  startResearcher,
  startWeb,
} from '../harness/web.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const QUESTION = 'When was the bridge closed?';
/** Where the daemon is killed: while a model is asked, or while a page comes. */
type Moment = ResearchTask | 'read';

describe('research, killed', () => {
  let home: string;
  let web: Awaited<ReturnType<typeof startWeb>>;
  let model: Awaited<ReturnType<typeof startResearcher>>;
  let daemon: Daemon;
  let owner: Awaited<ReturnType<typeof registerOwner>>;
  let env: Record<string, string>;
  /** Where nothing answers; null: everything does. */
  let stuck: Moment | null = null;
  let reached = 0;

  const pageOf = (at: number) => (response: ServerResponse) => {
    if (stuck === 'read' && at === 2) {
      reached++;
      return;
    }
    response.setHeader('content-type', 'text/html');
    response.end(`<title>T</title><article><p>Bridge ${at} was closed in March.</p></article>`);
  };

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-research-'));
    web = await startWeb([0, 1, 2].map((at) => ({ '/page': pageOf(at) })));
    model = await startResearcher((task, prompt) => {
      if (task === stuck) {
        reached++;
        return hangs;
      }
      if (task === 'write') return quotingReport(prompt);
      return task === 'plan' ? queriesOf('one', 'two') : queriesOf('three');
    });
    env = {
      ADJUTANT_EGRESS_ALLOW: web.egressAllow.join(' '),
      ADJUTANT_SEARCH_URL: web.searchUrl,
      ADJUTANT_MODEL_URL: model.openai.baseUrl,
      ADJUTANT_MODEL_NAME: 'fake-1',
    };
    daemon = await startDaemon({ home, env });
    owner = await registerOwner(daemon.url);
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await web.stop();
    await model.stop();
    await rm(home, { recursive: true, force: true });
  });

  const killed = async (): Promise<void> => {
    await daemon.end('SIGKILL');
    daemon = await startDaemon({ home, env });
    owner = owner.with({ url: daemon.url });
  };
  const begin = async (): Promise<string> => {
    web.forget();
    model.openai.asked.length = 0;
    reached = 0;
    const [a, b, c] = [0, 1, 2].map((at) => web.at(at, '/page'));
    web.finds([a ?? '', b ?? ''], [b ?? '', c ?? '']);
    const body = { question: QUESTION, depth: 'deep', sources: ['web'] } as const;
    return (await owner.research.start({ body: { ...body, sources: ['web'] } })).id;
  };
  const endOf = (id: string) =>
    until(
      () => owner.research.get({ id }),
      ({ status }) => status === 'completed' || status === 'failed',
      60_000,
    );
  /** The requests that the world has received, and the notices and entries of the owner. */
  const doneOf = async (id: string) => {
    const { notifications } = await owner.notifications.list();
    const { entries } = await owner.knowledge.list();
    return {
      plan: model.prompts('plan').length,
      missing: model.prompts('missing').length,
      write: model.prompts('write').length,
      queries: web.queries,
      pages: [0, 1, 2].map((at) => web.visitsOf(web.at(at, '/page'))),
      notices: notifications.filter(({ link }) => link?.endsWith(id)).length,
      entries: entries.filter(({ sourceId }) => sourceId === id).length,
    };
  };
  const ONCE = {
    plan: 1,
    missing: 1,
    write: 1,
    queries: ['one', 'two', 'three'],
    pages: [1, 1, 1],
    notices: 1,
    entries: 1,
  };

  const moments: [Moment, object][] = [
    ['plan', { plan: 2 }],
    ['read', { pages: [1, 1, 2] }],
    ['missing', { missing: 2 }],
    ['write', { write: 2 }],
  ];
  for (const [moment, twice] of moments) {
    it(`goes on where it was killed: ${moment}`, async () => {
      stuck = moment;
      const id = await begin();
      await until(
        async () => reached,
        (count) => count > 0,
        30_000,
      );
      if (moment === 'read') {
        await until(
          () => owner.research.get({ id }),
          ({ usage }) => usage.pages === 2,
        );
      }
      stuck = null;
      await killed();
      const job = await endOf(id);
      expect([job.status, job.usage.pages, job.report?.unverified]).to.equal(['completed', 3, 0]);
      // What had no answer yet is asked again, and nothing else.
      expect(await doneOf(id)).to.equal({ ...ONCE, ...twice });
    });
  }

  it('loses nothing and does nothing twice at any moment', async () => {
    const ids: string[] = [];
    for (const ms of [0, 40, 90, 150, 220, 300, 450, 700, 1100, 1600]) {
      const id = await begin();
      ids.push(id);
      // A query that is asked again finds what one of them would have found.
      const [a, b, c] = [0, 1, 2].map((at) => web.at(at, '/page'));
      const found = [
        [a ?? '', b ?? ''],
        [b ?? '', c ?? ''],
      ];
      web.finds(...found, ...found, ...found);
      await new Promise((resolve) => setTimeout(resolve, ms));
      await killed();
      const job = await endOf(id);
      expect([job.status, job.report?.unverified], `${ms} ms`).to.equal(['completed', 0]);
      const { notices, entries } = await doneOf(id);
      expect([job.sources.length, notices, entries], `${ms} ms`).to.equal([3, 1, 1]);
    }
    const { jobs } = await owner.research.list();
    for (const id of ids) expect(jobs.filter((each) => each.id === id)).to.have.length(1);
  });
});
