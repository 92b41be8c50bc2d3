import { writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type CommonFlags, Context } from '../../cli/context.js';
import { Fault } from '../../cli/exit.js';
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
    expect(context({ url: 'http://here:1' }).url).to.equal('http://here:1');
  });

  it('takes the token of the flag, the file, the environment, the kept login', async () => {
    const tokenFile = `${config.folder}/token`;
    await writeFile(tokenFile, 'filed\n');
    expect(context({}).token).to.be.undefined();
    saveSession('http://127.0.0.1:3005', kept);
    expect(context({}).token).to.equal('kept');
    expect(context({ url: 'http://other' }).token).to.be.undefined();
    process.env.ADJUTANT_TOKEN = 'environs';
    expect(context({}).token).to.equal('environs');
    expect(context({ tokenFile }).token).to.equal('filed');
    expect(context({ tokenFile, token: 'typed' }).token).to.equal('typed');
  });

  it('refuses a token file that cannot be read', () => {
    expect(() => context({ tokenFile: '/nowhere/at/all' }).token).to.throw(
      Fault,
      '--token-file names a file that cannot be read: /nowhere/at/all',
    );
  });
});
