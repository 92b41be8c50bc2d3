import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MiB = 1024 * 1024;

describe('the server', () => {
  let app: TestApp;
  let token: string;

  before(async () => {
    app = await startApp();
    token = (await app.register('ada')).token;
  });

  after(() => app.stop());

  it('unpacks gzip up to the same size', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(200 * MiB, ' '));
    const before = process.memoryUsage().rss;
    const refused = await app.call('POST', '/api/agents', { token, headers, body: bomb });
    expect(refused.status).to.equal(413);
    expect(process.memoryUsage().rss - before).to.be.below(100 * MiB);
    const small = gzipSync(JSON.stringify({ username: 'ada', password: 'wrong password' }));
    const login = await app.call('POST', '/api/auth/login', { headers, body: small });
    expect(login.status).to.equal(401);
    const broken = await app.call('POST', '/api/auth/login', { headers, body: '{}' });
    expect(broken.status).to.equal(400);
  });
});
