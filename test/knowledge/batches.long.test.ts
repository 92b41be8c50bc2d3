import { readdir, readFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { systemClock } from '../../src/kernel/clock.js';
import { createLog } from '../../src/kernel/log.js';
import { splitIntoBatches, takeBatch } from '../../src/knowledge/procedures/batches.js';
import { openSearchIndex } from '../../src/knowledge/searchindex.js';
import { startApp, type TestApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Makes a text of so many chunks: each section is long enough to be one. */
const textOf = (sections: number): string =>
  Array.from({ length: sections }, (_, at) => `# Section ${at}\n\n${'word '.repeat(80)}\n`).join(
    '\n',
  );
const headingsIn = (batch: string | null): string[] =>
  JSON.parse(batch ?? '[]').map(({ heading }: { heading: string }) => heading);

describe('the batches of a text', () => {
  it('are all of its chunks, in their order, and freed with the last one', async () => {
    const summary = await splitIntoBatches({ id: 'a', text: textOf(70) });
    expect(summary).to.equal({ chunks: 70, batches: 2, chars: textOf(70).length, language: null });
    const headings = [0, 1].flatMap((at) => headingsIn(takeBatch({ id: 'a', at })));
    expect(headings).to.equal(Array.from({ length: 70 }, (_, at) => `Section ${at}`));
    expect(takeBatch({ id: 'a', at: 0 })).to.be.null();
  });

  it('of a text without a word are none', async () => {
    const summary = await splitIntoBatches({ id: 'none', text: ' \n ' });
    expect([summary.chunks, summary.batches]).to.equal([0, 0]);
  });

  it('of nine texts at once are lost for the first', async () => {
    for (let n = 0; n < 9; n++) await splitIntoBatches({ id: `${n}`, text: textOf(70) });
    expect(takeBatch({ id: '0', at: 0 })).to.be.null();
    expect(headingsIn(takeBatch({ id: '1', at: 1 }))[0]).to.equal('Section 64');
  });
});

const openIndex = ({ app: { store }, home }: TestApp) =>
  openSearchIndex({ store, clock: systemClock, log: createLog('silent'), home });

describe('a split text whose batches were lost', () => {
  const app = openForSuite(lab, startApp);

  it('is split again', async () => {
    const index = openIndex(app);
    const first = await index.split('user_a', textOf(70));
    for (let n = 0; n < 9; n++) await index.split('user_b', textOf(70));
    const headings = [await first.batch(0), await first.batch(1)].flatMap(headingsIn);
    await index.close();
    expect(headings).to.equal(Array.from({ length: 70 }, (_, at) => `Section ${at}`));
  });

  const onLinux = { skip: process.platform !== 'linux' };
  it('is split by a thread that gives way to others', onLinux, async () => {
    const index = openIndex(app);
    const others = await children();
    await index.split('user_a', textOf(70));
    const started = (await children()).filter((pid) => !others.includes(pid));
    const values = await niceValues(started);
    await index.close();
    const [own = 0] = await niceValues([String(process.pid)]);
    expect(values).to.equal(new Set([own, 10]));
  });
});

/** Returns the child processes. An earlier test file of this process may have left some. */
const children = async (): Promise<string[]> =>
  (await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')).trim().split(' ');

/** Returns the nice values of the threads of these processes (proc(5), stat). */
const niceValues = async (pids: string[]): Promise<Set<number>> => {
  const values = pids.map(async (pid) => {
    const threads = await readdir(`/proc/${pid}/task`);
    const stats = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
    return (await Promise.all(stats)).map(niceOf);
  });
  return new Set((await Promise.all(values)).flat());
};

/** The 19th value; the second one, in brackets, may hold spaces. */
const niceOf = (stat: string): number =>
  Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
