import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createLineWriter, type LostLines } from '../../src/kernel/linewriter.js';
import { fill, mountTmpfs, whyNoMount } from '../faults/mount.js';
import { until, untilAtLeast, untilMatches } from '../harness/app.js';
import { runChatter, UNREAD } from './unread.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const noMount = whyNoMount();
const LINE = `${'x'.repeat(99)}\n`;

describe('a writer of lines', () => {
  let folder: string;
  let told: LostLines[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-lines-'));
    told = [];
  });
  afterEach(() => rm(folder, { recursive: true }));
  const tell = (lost: LostLines): void => void told.push(lost);

  it('writes to a file in order, all that came while it was busy included', async () => {
    const path = join(folder, 'log');
    const fd = openSync(path, 'a');
    const writer = createLineWriter(fd, { tell });
    const lines = Array.from({ length: 1000 }, (_, nth) => `line ${nth}\n`);
    for (const line of lines) writer.write(line);
    const all = lines.join('');
    expect(await untilMatches(() => readFile(path, 'utf8'), all)).to.equal(all);
    writer.write('last\n');
    writer.flushSync();
    await until(
      () => readFile(path, 'utf8'),
      (text) => text === `${all}last\n`,
    );
    closeSync(fd);
    expect(told).to.equal([]);
  });

  it('drops what a pipe that nobody reads has no room for, and tells how much', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writing = openSync(path, 'w');
    const writer = createLineWriter(writing, { tell, mostBytes: 10_000 });
    for (let nth = 0; nth < 2000; nth++) writer.write(LINE);
    const buffer = Buffer.alloc(1024 ** 2);
    const read = (): number => {
      try {
        return readSync(reading, buffer);
      } catch {
        return 0;
      }
    };
    let bytes = 0;
    await until(
      async () => {
        bytes += read();
        return told;
      },
      ({ length }) => length > 0,
    );
    bytes += read();
    expect(told).to.equal([{ lostLines: 2000 - bytes / LINE.length, reason: 'EAGAIN' }]);
    expect(Number(told[0]?.lostLines)).to.be.above(1000);
    writer.write('after\n');
    expect(buffer.subarray(0, read()).toString()).to.equal('after\n');
    for (const fd of [reading, writing]) closeSync(fd);
  });

  it('survives a reader that has gone, and goes on with the next one', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const open = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const first = open();
    const writing = openSync(path, 'w');
    const writer = createLineWriter(writing, { tell });
    writer.write('one\n');
    closeSync(first);
    writer.write('two\n');
    const second = open();
    const buffer = Buffer.alloc(100);
    let got = '';
    await until(
      async () => {
        try {
          got += buffer.subarray(0, readSync(second, buffer)).toString();
        } catch {
          // Nothing is there yet.
        }
        return got;
      },
      (text) => text.endsWith('two\n'),
    );
    expect([got, told]).to.equal(['one\ntwo\n', []]);
    for (const fd of [second, writing]) closeSync(fd);
  });

  it(`keeps what a full disk has no room for${noMount === null ? '' : ` (skipped: ${noMount})`}`, {
    skip: noMount !== null,
  }, async () => {
    const unmount = mountTmpfs(folder, 1);
    try {
      const path = join(folder, 'log');
      const fd = openSync(path, 'a');
      const writer = createLineWriter(fd, { tell, mostBytes: 10_000 });
      writer.write('before\n');
      await untilMatches(() => readFile(path, 'utf8'), 'before\n');
      const empty = await fill(folder);
      for (let nth = 0; nth < 1000; nth++) writer.write(LINE);
      const lost = await until(
        async () => writer.lost(),
        ({ reason }) => reason !== '',
      );
      await empty();
      await untilAtLeast(async () => told, 1);
      const kept = (await readFile(path, 'utf8')).slice('before\n'.length);
      expect(kept).to.equal(LINE.repeat(kept.length / LINE.length));
      const all = { lostLines: 1000 - kept.length / LINE.length, reason: 'ENOSPC' };
      expect([told, lost, writer.lost().lostLines]).to.equal([[all], all, 0]);
      closeSync(fd);
    } finally {
      unmount();
    }
  });
});

describe('the log of a process', () => {
  for (const [name, under] of UNREAD) {
    it(`goes on where stderr is ${name} that is not read, and ends when told`, async () => {
      const { code, lines } = await runChatter(under);
      expect([code, lines]).to.equal([0, 20_000]);
    });
  }
});
