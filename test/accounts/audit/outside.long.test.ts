import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmod,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { OpenRefused } from '../../../src/store/engine/protocol.js';
import { startApp, type TestApp } from '../../harness/app.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

/** A file that Linux lets nobody write, not even root. */
const UNWRITABLE = '/proc/sys/kernel/ostype';
/** The id of an ordinary user, who need not exist. */
const ORDINARY = 65_534;

/** A folder that every user may enter; the temporary one of a test run is for one user alone. */
const OPEN_TO_ALL = '/tmp';

const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * Does the work as an ordinary user who owns the folder, because root may write every file. What
 * the work loads must be loaded already: the user may not be able to read the project.
 */
const asOrdinaryUser = async (folder: string, work: () => Promise<void>): Promise<void> => {
  if (!isRoot()) return work();
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) {
    await lchown(join(folder, name), ORDINARY, ORDINARY);
  }
  process.seteuid?.(ORDINARY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
};

interface Finding {
  name: string;
  status: string;
  detail: string;
}

describe('heads of the audit log outside the home', () => {
  let folder: string;
  let app: TestApp;
  let token: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-outside-'));
  });
  after(() => rm(folder, { recursive: true }));
  afterEach(() => app.stop());

  const get = async (path: string) => (await app.call('GET', path, { token })).body;
  const found = async () => {
    const { findings } = await get('/api/admin/doctor');
    const { status, detail } = findings.find(({ name }: Finding) => name === 'audit');
    return { status, detail };
  };

  describe('in a file', () => {
    let file: string;
    beforeEach(async () => {
      file = join(await mkdtemp(join(folder, 'place-')), 'heads');
      app = await startApp({ config: { auditHeads: file } });
      token = (await app.register('ada')).token;
    });

    it('are there when an act was answered, and the doctor says where they go', async () => {
      const { head } = await get('/api/admin/audit/verify');
      expect(await readFile(file, 'utf8')).to.contain(`${head.number} ${head.mac}\n`);
      expect(await found()).to.equal({
        status: 'ok',
        detail: `its heads are written to audit.head and ${file}`,
      });
    });

    it('fail no act where they cannot be written, and the doctor says so', async () => {
      await get('/api/admin/users');
      await rename(file, `${file}.kept`);
      await mkdir(file);
      const { status } = await app.call('GET', '/api/admin/users', { token });
      expect(status).to.equal(200);
      const { status: isIll, detail } = await found();
      expect([isIll, /EISDIR/.test(detail)]).to.equal(['fail', true]);
      await rm(file, { recursive: true });
      await rename(`${file}.kept`, file);
      await get('/api/admin/users');
      expect((await found()).status).to.equal('ok');
    });

    it('are a finding of the doctor where they contradict', async () => {
      await app.app.close();
      await writeFile(file, `${await readFile(file, 'utf8')}999 ${'a'.repeat(64)}\n`);
      await app.restart();
      const { status, detail } = await found();
      expect([status, detail.includes(`${file} contains entry 999`)]).to.equal(['fail', true]);
    });
  });

  it('are behind where they can be read and not written', async () => {
    const place = await mkdtemp(join(isRoot() ? OPEN_TO_ALL : folder, 'adjutant-outside-'));
    const [home, file] = [join(place, 'home'), join(place, 'heads')];
    await mkdir(home, { mode: 0o700 });
    app = await startApp({ home, config: { auditHeads: file } });
    token = (await app.register('ada')).token;
    expect((await found()).status).to.equal('ok');
    await chmod(file, 0o400);
    await asOrdinaryUser(place, async () => {
      expect((await app.call('GET', '/api/admin/users', { token })).status).to.equal(200);
      expect(await found()).to.equal({
        status: 'warn',
        detail: `its heads cannot be written to ${file}`,
      });
    });
    await app.app.close();
    await rm(place, { recursive: true });
  });

  it('are sent to a syslog server, each when it moved', async () => {
    const server = createSocket('udp4');
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const heard: string[] = [];
    server.on('message', (bytes) => heard.push(bytes.toString()));
    const to = `syslog://127.0.0.1:${server.address().port}`;
    app = await startApp({ config: { auditHeads: to } });
    const [one] = await Promise.all([once(server, 'message'), app.register('ada')]);
    token = (
      await app.call('POST', '/api/auth/login', {
        body: { username: 'ada', password: 'correct horse battery' },
      })
    ).body.token;
    const line = (await readFile(join(app.home, 'audit.head'), 'utf8')).split('\n')[0] ?? '';
    const [number, mac] = line.split(' ');
    expect(one[0].toString()).to.match(
      new RegExp(
        `^<110>1 \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z \\S+ adjutant \\d+ audit-head ` +
          `\\[auditHead@32473 number="${number}" mac="${mac}" home="${app.home}"\\] audit head ${number} ${mac}$`,
      ),
    );
    expect(await found()).to.equal({
      status: 'ok',
      detail: `its heads are written to audit.head, and sent to ${to} (UDP does not confirm delivery)`,
    });
    server.close();
    // Nobody is there any more.
    expect((await app.call('GET', '/api/admin/users', { token })).status).to.equal(200);
  });
});

describe('a place for heads that cannot be', () => {
  let folder: string;
  let home: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-outside-'));
    home = join(folder, 'home');
    await mkdir(home);
    await mkdir(join(folder, 'folder'));
    await symlink(home, join(folder, 'link'));
    await symlink(join(home, 'coming'), join(folder, 'dangling'));
    await writeFile(join(folder, 'other'), 'some text\n');
  });
  after(() => rm(folder, { recursive: true }));

  const CASES: Record<string, { path: string; says: RegExp }> = {
    'is in the home': { path: 'home/heads', says: /must be a file outside the home/ },
    'is in the home, by a name with dots': {
      path: 'home/..heads',
      says: /must be a file outside the home/,
    },
    'is in the home, by a link': { path: 'link/heads', says: /must be a file outside the home/ },
    'is a link to nothing': { path: 'dangling', says: /not a broken symbolic link/ },
    'is a folder': { path: 'folder', says: /must be a regular file/ },
    'is in no folder': { path: 'none/heads', says: /must be a file in an existing folder/ },
    'holds something else': { path: 'other', says: /existing file has other content/ },
    'is no folder above': { path: 'other/heads', says: /must be a readable and writable file/ },
  };
  for (const [does, { path, says }] of Object.entries(CASES)) {
    it(`stops the start where it ${does}, and is named`, async () => {
      const auditHeads = join(folder, path);
      const error = await expect(startApp({ home, config: { auditHeads } })).to.reject(OpenRefused);
      expect(error.message)
        .to.match(/^ADJUTANT_AUDIT_HEADS /)
        .and.to.match(says);
    });
  }

  it('stops the start where it may not be written', async () => {
    const auditHeads = process.platform === 'linux' ? UNWRITABLE : join(folder, 'readonly');
    if (auditHeads !== UNWRITABLE) await writeFile(auditHeads, '', { mode: 0o400 });
    const error = await expect(startApp({ home, config: { auditHeads } })).to.reject(OpenRefused);
    expect(error.message).to.match(/^ADJUTANT_AUDIT_HEADS must be a readable and writable file/);
  });
});
