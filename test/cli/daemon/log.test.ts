import {
  appendFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  failureLines,
  followLog,
  formatLogLine,
  getDaemonLogPath,
  getFileSize,
  lastLines,
  logLineAsJson,
  openLog,
  readFrom,
  rotateOpen,
} from '../../../cli/daemon/log.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const LARGE_BYTES = 10 * 1024 * 1024 + 1;

describe('log', () => {
  let home: string;
  let path: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'adjutant-log-'));
    path = getDaemonLogPath(home);
    openLog(home);
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('is for its owner alone, and goes on where it ended', () => {
    appendFileSync(path, 'before\n');
    const { from } = openLog(home);
    appendFileSync(path, 'after\n');
    expect(readFrom(path, from)).to.equal('after\n');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(statSync(dirname(path)).mode & 0o777).to.equal(0o700);
  });

  it('is put aside when it is large, and three old ones are kept', () => {
    for (const number of [1, 2, 3, 4, 5]) {
      writeFileSync(path, `${number}`);
      truncateSync(path, LARGE_BYTES);
      openLog(home);
    }
    const names = readdirSync(dirname(path)).sort();
    expect(names).to.equal(['daemon.log', 'daemon.log.1', 'daemon.log.2', 'daemon.log.3']);
    const first = (name: string) => readFrom(join(dirname(path), name), 0).slice(0, 1);
    expect(names.map(first)).to.equal(['', '5', '4', '3']);
  });

  it('is put aside while it is written to, and goes on where it is', () => {
    const { fd } = openLog(home);
    writeSync(fd, 'before\n');
    rotateOpen(path, fd);
    expect(readdirSync(dirname(path))).to.equal(['daemon.log']);
    truncateSync(path, LARGE_BYTES);
    rotateOpen(path, fd);
    writeSync(fd, 'after\n');
    expect(readFrom(path, 0)).to.equal('after\n');
    expect([getFileSize(`${path}.1`), statSync(`${path}.1`).mode & 0o777]).to.equal([
      LARGE_BYTES,
      0o600,
    ]);
  });

  it('is left alone where another file is written to', () => {
    truncateSync(path, LARGE_BYTES);
    const fd = openSync(join(home, 'own.log'), 'a');
    rotateOpen(path, fd);
    expect(getFileSize(path)).to.equal(LARGE_BYTES);
  });

  it('gives its last lines, however long they are', () => {
    const long = 'ü'.repeat(100_000);
    appendFileSync(path, `one\n${long}\nthree\n`);
    const end = statSync(path).size;
    expect(lastLines(path, 2)).to.equal({ lines: [long, 'three'], end });
    expect(lastLines(path, 9)).to.equal({ lines: ['one', long, 'three'], end });
    expect(lastLines(path, 0)).to.equal({ lines: [], end });
    expect(lastLines(join(home, 'none'), 2)).to.equal({ lines: [], end: 0 });
  });
});

describe('followLog', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-follow-'));
    path = join(folder, 'a.log');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('tells every line once: of a file that comes, grows, is put aside and is emptied', async () => {
    const end = new AbortController();
    const lines = followLog(path, 0, end.signal);
    const next = async () => (await lines.next()).value;

    const first = next();
    writeFileSync(path, 'one\ntw');
    expect(await first).to.equal('one');
    const second = next();
    appendFileSync(path, 'o\n');
    expect(await second).to.equal('two');

    appendFileSync(path, 'last of the old');
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'first of the new\n');
    expect(await next()).to.equal('last of the old');
    expect(await next()).to.equal('first of the new');

    writeFileSync(path, 'emptied\n');
    expect(await next()).to.equal('emptied');
    const over = lines.next();
    end.abort();
    expect(await over).to.equal({ value: undefined, done: true });
  });

  it('begins where it is told to', async () => {
    writeFileSync(path, 'one\ntwo\n');
    const end = new AbortController();
    expect((await followLog(path, 4, end.signal).next()).value).to.equal('two');
  });
});

describe('a line of the log', () => {
  const entry = JSON.stringify({
    level: 'error',
    at: '2026-01-02T03:04:05.678Z',
    requestId: 'request_1',
    path: '/a b',
    err: { message: 'it broke', stack: 'Error: it broke\n    at there' },
    msg: 'request failed',
  });

  it('is shown to a person with its level, its error and its ids last', () => {
    expect(formatLogLine(entry)).to.match(
      /03:04:05\.678 ERROR request failed path="\/a b" requestId=request_1 error="it broke"\n {4}at there$/,
    );
  });

  it('cannot move the cursor or fake another line', () => {
    const hostile = JSON.stringify({ level: 'info', at: '', msg: 'a\nb\u001b[2J' });
    expect(formatLogLine(hostile)).to.include('a\\nb\\x1b[2J');
    expect(formatLogLine('crash\u001b[2J')).to.equal('crash\\x1b[2J');
  });

  it('is always JSON for a machine', () => {
    expect(logLineAsJson(entry)).to.equal(entry);
    expect(logLineAsJson('{ cut off')).to.equal('{"msg":"{ cut off"}');
  });

  it('is a complaint when it is a crash, or else an error', () => {
    const fine = '{"level":"info","msg":"fine"}';
    expect(failureLines([fine, entry, 'Error: boom'])).to.equal(['Error: boom']);
    expect(failureLines([fine, entry])).to.equal([formatLogLine(entry)]);
    expect(failureLines([fine])).to.equal([]);
  });
});
