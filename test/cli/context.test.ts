import { writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Context } from '../../cli/command.js';
import { findProcess, writeRecord } from '../../cli/daemon/process.js';
import { CliFault } from '../../cli/exit.js';
import type { CommonFlags } from '../../cli/invocation.js';
import { saveSession } from '../../src/client/session.js';
import { openConfig } from './config.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const context = (flags: CommonFlags): Context => {
  const streams = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  };
  return new Context(streams, flags, { command: 'whoami', flagOf: (path) => path });
};

const kept = { token: 'kept', username: 'ada', expiresAt: '2126-01-01T00:00:00.000Z' };

describe('Context', () => {
  let config: Awaited<ReturnType<typeof openConfig>>;
  beforeEach(async () => {
    config = await openConfig();
  });
  afterEach(() => config.close());

  it('asks at the flag’s address, then the environment’s, then this machine’s', () => {
    expect(context({}).url).to.equal('http://127.0.0.1:3005');
    process.env.ADJUTANT_URL = 'https://hooks.example.org/';
    expect(context({}).url).to.equal('https://hooks.example.org');
    expect(context({ server: 'http://here:1' }).url).to.equal('http://here:1');
  });

  it('takes the token of the flag, the file, the environment, the kept login', async () => {
    const serverTokenFile = `${config.folder}/token`;
    await writeFile(serverTokenFile, 'filed\n');
    expect(context({}).token).to.be.undefined();
    saveSession('http://127.0.0.1:3005', kept);
    expect(context({}).token).to.equal('kept');
    expect(context({ server: 'http://other' }).token).to.be.undefined();
    process.env.ADJUTANT_TOKEN = 'environs';
    expect(context({}).token).to.equal('environs');
    expect(context({ serverTokenFile }).token).to.equal('filed');
    expect(context({ serverTokenFile, serverToken: 'typed' }).token).to.equal('typed');
  });

  it('keeps ADJUTANT_TOKEN for the origin of ADJUTANT_URL, or of the default', () => {
    process.env.ADJUTANT_TOKEN = 'environs';
    const tokensAt = (...servers: string[]) => servers.map((server) => context({ server }).token);
    expect(tokensAt('http://127.0.0.1:3005', 'http://127.0.0.1:3005/under/it')).to.equal([
      'environs',
      'environs',
    ]);
    const others = ['https://127.0.0.1:3005', 'http://localhost:3005', 'http://127.0.0.1:3006'];
    const disguised = ['http://127.0.0.1:3005@a.test', 'http://127.0.0.1.a.test:3005'];
    expect(tokensAt(...others, ...disguised)).to.equal(
      [...others, ...disguised].map(() => undefined),
    );
    process.env.ADJUTANT_URL = 'https://Hooks.example.org:443/in';
    expect(tokensAt('https://hooks.example.org', 'http://127.0.0.1:3005')).to.equal([
      'environs',
      undefined,
    ]);
    saveSession('http://127.0.0.1:3005', kept);
    expect(tokensAt('http://127.0.0.1:3005')).to.equal(['kept']);
    expect(context({ server: 'http://127.0.0.1:3005' }).tokenIsFor).to.equal(
      'https://Hooks.example.org:443/in',
    );
    expect(context({}).tokenIsFor).to.be.undefined();
  });

  it('asks at the daemon that runs in the background, where no address is named', async () => {
    const running = { url: 'http://127.0.0.1:4321', startedAt: '', flags: [] };
    const home = `${config.folder}/home`;
    writeRecord(home, { pid: process.pid, started: '', ...findProcess(process.pid), ...running });
    process.env.ADJUTANT_HOME = home;
    expect(context({}).url).to.equal('http://127.0.0.1:4321');
    expect(context({ home: `${config.folder}/other` }).url).to.equal('http://127.0.0.1:3005');
    process.env.ADJUTANT_URL = 'http://127.0.0.1:5';
    expect(context({}).url).to.equal('http://127.0.0.1:5');
    expect(context({ home }).url).to.equal('http://127.0.0.1:4321');
    expect(context({ home, server: 'http://here:1' }).url).to.equal('http://here:1');
    process.env.ADJUTANT_TOKEN = 'environs';
    expect([context({ home }).token, context({}).token]).to.equal([undefined, 'environs']);
  });

  it('takes an empty ADJUTANT_TOKEN for no kept login', () => {
    saveSession('http://127.0.0.1:3005', kept);
    process.env.ADJUTANT_TOKEN = '';
    expect(() => context({}).token).to.throw(CliFault, /^ADJUTANT_TOKEN is set, but empty/);
  });

  it('refuses a token file that cannot be read', () => {
    expect(() => context({ serverTokenFile: '/nowhere/at/all' }).token).to.throw(
      CliFault,
      'Cannot read the file of --server-token-file: /nowhere/at/all',
    );
  });
});
