import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { checkDiskSpace } from '../../src/capabilities/diskspace.js';
import {
  busyServerError,
  type DownloadProgress,
  download,
} from '../../src/capabilities/download.js';
import { DownloadFailed } from '../../src/capabilities/downloadfailed.js';
import { fetchFiles } from '../../src/capabilities/fetch.js';
import { hasFetched } from '../../src/capabilities/installedmodels.js';
import type { InstallPlan } from '../../src/capabilities/installplan.js';
import { fetchRemoteFileFacts } from '../../src/capabilities/remotefilefacts.js';
import { type NextTry, retryBroken } from '../../src/capabilities/retry.js';
import { createHttp, type Http } from '../../src/kernel/http.js';
import { type FrozenClock, frozenClock, untilMatches } from '../harness/app.js';
import { type MirrorHabits, sha256Of, startMirror } from './mirror.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

type DownloadPlan = Extract<InstallPlan, { via: 'download' }>;

const FILE = randomBytes(300_000);

describe('a download', () => {
  let folder: string;
  let to: string;
  let http: Http;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  let told: DownloadProgress[];
  let waited: NextTry[];
  let clock: FrozenClock;
  beforeEach(async () => {
    clock = frozenClock();
    folder = await mkdtemp(join(tmpdir(), 'download-'));
    to = join(folder, 'model.gguf');
    told = [];
    waited = [];
  });
  afterEach(async () => {
    await http.close();
    await mirror.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Notes the pause and passes it. */
  const onRetry = (next: NextTry): void => {
    waited.push(next);
    void clock.waiting(next.pauseMs).then(() => clock.forward(next.pauseMs));
  };

  const open = async (habits?: MirrorHabits) => {
    mirror = await startMirror(FILE, habits);
    http = createHttp({ allow: [mirror.entry] });
  };
  const fetchIt = (over: { sha256?: string; bytes?: number | null; signal?: AbortSignal } = {}) => {
    const { signal = new AbortController().signal, ...rest } = over;
    const file = { url: mirror.url, to, bytes: FILE.length, sha256: sha256Of(FILE), ...rest };
    return download(http, file, {
      clock,
      signal,
      onProgress: (progress) => told.push(progress),
      onRetry,
    });
  };

  it('has the bytes of the file, and tells how far it is', async () => {
    await open();
    await fetchIt();
    expect((await readFile(to)).equals(FILE)).to.be.true();
    expect(told.at(-1)).to.include({ done: FILE.length, total: FILE.length });
    expect(await readdir(folder)).to.equal(['model.gguf']);
  });

  it('goes on after each break from where it was', async () => {
    await open({ breaksAfter: [111_000, 200_000] });
    await fetchIt();
    expect((await readFile(to)).equals(FILE)).to.be.true();
    expect(mirror.ranges.length).to.equal(3);
    expect(mirror.ranges[0]).to.be.undefined();
    const from = mirror.ranges.slice(1).map((range) => Number(/\d+/.exec(range ?? '')?.[0]));
    // All that had come was written before the next request.
    expect(from).to.equal([111_000, 200_000]);
  });

  it('begins anew where the server ignores the range', async () => {
    await open({ isWhole: true });
    await writeFile(to, FILE.subarray(0, 50_000));
    await fetchIt();
    expect((await readFile(to)).equals(FILE)).to.be.true();
  });

  it('goes on from the bytes of another run', async () => {
    await open();
    await writeFile(to, FILE.subarray(0, 120_000));
    await fetchIt();
    expect(told[0]).to.equal({ done: 120_000, total: FILE.length, rate: 0 });
    expect(mirror.ranges).to.equal(['bytes=120000-']);
    expect((await readFile(to)).equals(FILE)).to.be.true();
  });

  it('is complete where the server has nothing left to send', async () => {
    await open();
    await writeFile(to, FILE);
    mirror.server.removeAllListeners('request');
    mirror.server.on('request', (_, response) => {
      response.writeHead(416, { 'content-range': `bytes */${FILE.length}` }).end();
    });
    await fetchIt({ bytes: null });
    expect(await readdir(folder)).to.equal(['model.gguf']);
  });

  it('asks for nothing where the file is complete', async () => {
    await open();
    await writeFile(to, FILE);
    await fetchIt();
    expect(mirror.got).to.equal([]);
  });

  const refusedWith = async (habits: MirrorHabits, over: object, message: RegExp) => {
    await open(habits);
    await expect(fetchIt(over)).to.reject(DownloadFailed, message);
    expect(await readdir(folder)).to.equal([]);
  };

  it('of another checksum is refused and leaves nothing', () =>
    refusedWith(
      {},
      { sha256: 'ab'.repeat(32) },
      /^Checksum mismatch: [0-9a-f]{64}, expected (ab){32}/,
    ));

  it('that is longer than it should be is refused and leaves nothing', () =>
    refusedWith({}, { bytes: 1000 }, /^The file is longer than the expected 1000 bytes/));

  it('that is shorter than it should be is refused at once and leaves nothing', async () => {
    const bytes = FILE.length + 1;
    await refusedWith(
      {},
      { bytes },
      /^The file has 300000 bytes, expected 300001. The file was deleted. Check the URL, then install again$/,
    );
    expect(mirror.ranges.length).to.equal(1);
    expect(waited).to.equal([]);
  });

  it('whose rest is shorter than it should be is refused and leaves nothing', async () => {
    await writeFile(to, FILE.subarray(0, 120_000));
    const bytes = FILE.length + 1;
    await refusedWith(
      {},
      { bytes },
      /^The file has 300000 bytes, expected 300001. The file was deleted. Check the URL, then install again$/,
    );
    expect(mirror.ranges).to.equal(['bytes=120000-']);
    expect(waited).to.equal([]);
  });

  it('whose server says no is refused and leaves nothing', () =>
    refusedWith({ status: 404 }, {}, /^127\.0\.0\.1 returned 404$/));

  it('that is led to a file of this machine is refused at once', async () => {
    await refusedWith(
      { leadsTo: 'file:///etc/passwd' },
      {},
      /^127\.0\.0\.1 redirects to an invalid URL: The URL must begin with http/,
    );
    expect(mirror.ranges.length).to.equal(1);
    expect(waited).to.equal([]);
  });

  it('is asked for again where the server is busy, when the server says', async () => {
    await open({ busy: [{ status: 503 }, { status: 429, retryAfter: '2' }] });
    await writeFile(to, FILE.subarray(0, 120_000));
    await fetchIt();
    expect((await readFile(to)).equals(FILE)).to.be.true();
    expect(waited).to.equal([
      { attempt: 2, of: 8, pauseMs: 500, reason: '127.0.0.1 returned 503' },
      { attempt: 3, of: 8, pauseMs: 2000, reason: '127.0.0.1 returned 429' },
    ]);
    expect(mirror.ranges).to.equal(['bytes=120000-']);
  });

  it('is told of by a server that was busy before', async () => {
    await open({ busy: [{ status: 502 }], tellsSum: true });
    const { signal } = new AbortController();
    const told = await fetchRemoteFileFacts(http, mirror.url, { clock, signal, onRetry });
    expect(told).to.equal({ sha256: sha256Of(FILE), bytes: FILE.length });
    expect(waited).to.equal([
      { attempt: 2, of: 8, pauseMs: 500, reason: '127.0.0.1 returned 502' },
    ]);
  });

  it('is left alone as long as a busy server asks, until a date too', () => {
    const asked = (status: number, headers: Record<string, string>) =>
      busyServerError({ url: 'https://models.example/x', status, headers })?.busyMs;
    const date = 'Fri, 27 Nov 2026 10:00:00 GMT';
    const retry = 'Fri, 27 Nov 2026 10:00:45 GMT';
    expect(asked(429, { 'retry-after': '120' })).to.equal(120_000);
    expect(asked(503, { 'retry-after': retry, date })).to.equal(45_000);
    expect(asked(500, { 'retry-after': 'soon' })).to.equal(0);
    expect([asked(404, {}), asked(403, { 'retry-after': '1' })]).to.equal([undefined, undefined]);
  });

  it('tells of each next try why and when, and the first of a new break again', async () => {
    await open({ breaksAfter: [111_000, 111_000, 200_000] });
    await fetchIt();
    const reason = '127.0.0.1: the connection was interrupted';
    expect(waited).to.equal([
      { attempt: 2, of: 8, pauseMs: 500, reason },
      { attempt: 3, of: 8, pauseMs: 1000, reason },
      { attempt: 2, of: 8, pauseMs: 500, reason },
    ]);
    const whole = told.map(({ done }) => done);
    expect(whole).to.equal(whole.toSorted((one, other) => one - other));
  });

  it('that goes where it may not is refused', async () => {
    await open();
    await http.close();
    http = createHttp({ allow: [] });
    await expect(fetchIt()).to.reject(DownloadFailed);
    expect(mirror.got).to.equal([]);
  });

  it('that is stopped keeps what it has, and goes on from there', async () => {
    await open({ stallsAfter: 70_000 });
    const stop = new AbortController();
    const first = fetchIt({ signal: stop.signal });
    await untilMatches(async () => told.at(-1)?.done, 70_000);
    stop.abort(new Error('stopped'));
    await expect(first).to.reject('stopped');
    expect((await readFile(to)).length).to.equal(70_000);
    mirror.release();
    const again = await startMirror(FILE);
    const other = createHttp({ allow: [again.entry] });
    await download(
      other,
      { url: again.url, to, bytes: FILE.length, sha256: sha256Of(FILE) },
      { clock, signal: new AbortController().signal, onProgress: () => {} },
    );
    expect(again.ranges).to.equal(['bytes=70000-']);
    expect([(await readFile(to)).equals(FILE), existsSync(`${to}.etag`)]).to.equal([true, false]);
    await other.close();
    await again.close();
  });

  it('has fetched something once a file of it is there', async () => {
    await open();
    expect(await hasFetched(folder)).to.be.false();
    await fetchIt();
    expect(await hasFetched(folder)).to.be.true();
  });

  it('is not tried for ever where the server comes no further than before', async () => {
    let tries = 0;
    const lengths = [20, 40];
    const endless = retryBroken({
      clock,
      signal: new AbortController().signal,
      work: async () => {
        tries += 1;
        if (tries > 20) throw new Error('without an end');
        throw new Error('broken');
      },
      // What is there is shorter after every other try.
      reached: async () => lengths[tries % 2] ?? 0,
      brokenBy: (error) =>
        error instanceof Error && error.message === 'broken' ? error.message : null,
      onRetry: () => {},
    });
    const failure = endless.catch((error: unknown) => error);
    for (let attempt = 1; attempt < 8; attempt++) {
      const pauseMs = 500 * 2 ** (attempt - 1);
      await clock.waiting(Math.min(pauseMs, 30_000));
      clock.forward(pauseMs);
    }
    expect(await failure).to.be.an.error('broken');
    expect(tries).to.equal(8);
  });

  it('of an empty range is refused with the status', async () => {
    await open({ status: 416 });
    await expect(fetchIt()).to.reject(DownloadFailed, '127.0.0.1 returned 416');
  });

  it('needs no reply to HEAD where the checksum is known', async () => {
    await open({ breaksHead: true });
    const retried: NextTry[] = [];
    const telling = {
      ...{ clock, signal: new AbortController().signal, bytes: () => {}, note: () => {} },
      onRetry: (next: NextTry) => {
        retried.push(next);
        onRetry(next);
      },
    };
    const wanted = { url: mirror.url, path: 'model.bin', bytes: null, sha256: sha256Of(FILE) };
    const plan = { via: 'download', files: [wanted] } as unknown as DownloadPlan;
    expect(await fetchFiles(http, { plan, folder }, telling)).to.equal([
      { path: 'model.bin', bytes: FILE.length, sha256: sha256Of(FILE) },
    ]);
    expect(retried).to.equal([]);
  });

  it('begins only where there is room', async () => {
    await open();
    // A file system without a free byte.
    await expect(checkDiskSpace('/proc', 0)).to.reject(
      DownloadFailed,
      'The disk is full: less than 512 MiB are free, which are reserved for the database. Free some disk space',
    );
    await checkDiskSpace(folder, 1);
    await expect(checkDiskSpace(folder, 2 ** 50)).to.reject(
      DownloadFailed,
      /^Not enough disk space: 1073741824 MiB required, \d+ MiB available/,
    );
    await expect(checkDiskSpace(folder, 1e29)).to.reject(
      DownloadFailed,
      /^Not enough disk space: more than 1024 TiB required, \d+ MiB available/,
    );
  });
});
