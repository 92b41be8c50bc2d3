import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  BadSessionFile,
  dropSession,
  readSession,
  saveSession,
  sessionFile,
} from '../../src/client/session.js';
import { openConfig } from '../cli/config.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const ada = { token: 'token-a', username: 'ada', expiresAt: '2026-02-01T00:00:00.000Z' };
const bob = { token: 'token-b', username: 'bob', expiresAt: '2026-02-02T00:00:00.000Z' };
const here = 'http://127.0.0.1:3005';
const there = 'https://hooks.example.org';

describe('session', () => {
  let config: Awaited<ReturnType<typeof openConfig>>;
  beforeEach(async () => {
    config = await openConfig();
  });
  afterEach(() => config.close());

  it('keeps one login for each address, however that is spelt', () => {
    saveSession(here, ada);
    saveSession(`${there}/`, bob);
    expect([readSession(`${here}/`), readSession('HTTPS://hooks.example.org')]).to.equal([
      ada,
      bob,
    ]);
    expect(readSession('http://127.0.0.1:3006')).to.be.null();
  });

  it('forgets the login of one address alone', () => {
    saveSession(here, ada);
    saveSession(there, bob);
    dropSession(here);
    expect([readSession(here), readSession(there)]).to.equal([null, bob]);
  });

  it('is readable by its owner alone, and made so again where it was not', async () => {
    saveSession(here, ada);
    await chmod(sessionFile(), 0o644);
    saveSession(there, bob);
    const modes = [await stat(sessionFile()), await stat(dirname(sessionFile()))];
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).to.equal(['600', '700']);
  });

  it('refuses a file that holds no logins, names it and leaves it as it is', async () => {
    saveSession(here, ada);
    for (const text of ['{"half', '[1]', '"x"']) {
      await writeFile(sessionFile(), text);
      expect(() => readSession(here)).to.throw(
        BadSessionFile,
        /session\.json is not a valid session file\. Delete the file/,
      );
      expect(() => saveSession(there, bob)).to.throw(BadSessionFile);
      expect(await readFile(sessionFile(), 'utf8')).to.equal(text);
    }
  });
});
