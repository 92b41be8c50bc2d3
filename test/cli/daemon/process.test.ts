import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  findPortHolder,
  findProcess,
  hasEnded,
  holderText,
  isRunning,
  signalTo,
} from '../../../cli/daemon/process.js';
import { checkReadiness, parseListeningUrl } from '../../../cli/daemon/readiness.js';
import { newStranger } from './machine.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('process', () => {
  it('is known by its start, not by its id alone', () => {
    const self = findProcess(process.pid);
    expect(self?.pid).to.equal(process.pid);
    expect(self && isRunning(self)).to.equal(true);
    expect(isRunning({ pid: process.pid, started: 'another time' })).to.equal(false);
  });

  it('is over when it has ended, and takes no more signals', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    await once(child, 'spawn');
    const found = findProcess(child.pid ?? 0);
    if (found === null) throw new Error('The child is not known');
    expect(await hasEnded(found, { withinMs: 1 })).to.equal(false);
    signalTo(found, 'SIGKILL');
    expect(await hasEnded(found, { withinMs: 10_000 })).to.equal(true);
    signalTo(found, 'SIGKILL');
    expect(findProcess(found.pid)).to.equal(null);
  });
});

describe('readiness', () => {
  let stranger: Awaited<ReturnType<typeof newStranger>>;
  before(async () => {
    stranger = await newStranger();
  });
  after(() => {
    stranger.server.close();
  });

  it('tells another server from silence', async () => {
    const url = `http://127.0.0.1:${stranger.port}`;
    expect(await checkReadiness(url)).to.equal({ is: 'otherProgram' });
    expect(await checkReadiness('http://127.0.0.1:1')).to.equal({ is: 'silent' });
  });

  it('finds the address in what a daemon says, in the form that one can connect to', () => {
    const said = (url: string) =>
      parseListeningUrl(`Adjutant 1.0.0\n  listening ${url}   explorer`);
    expect(said('http://127.0.0.1:3005')).to.equal('http://127.0.0.1:3005');
    expect(said('http://0.0.0.0:3005')).to.equal('http://127.0.0.1:3005');
    expect(said('http://::1:3005')).to.equal('http://[::1]:3005');
    expect(said('http://[::]:3005')).to.equal('http://127.0.0.1:3005');
    expect(parseListeningUrl('  database  created')).to.equal(null);
  });
});

const hasProc = process.platform === 'linux';
describe('port', { skip: !hasProc }, () => {
  it('is held by the process that listens on it (needs /proc)', async () => {
    const { server, port } = await newStranger();
    const holder = findPortHolder(port);
    server.close();
    expect(holder?.pid).to.equal(process.pid);
    expect(holderText(holder)).to.startWith(` by pid ${process.pid} (`);
    await once(server, 'close');
    expect(findPortHolder(port)).to.equal(null);
    expect(holderText(null)).to.equal('');
  });
});
