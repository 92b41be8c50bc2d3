import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { restoreFile } from '../../../src/backup.js';
import { startApp, type TestApp, until } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { upload } from '../../harness/upload.js';
import { addHook, deliver, openStage, PASSPHRASE, type Stage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const CONTENT = 'Avocets wade in shallow water';

describe('a restored backup', () => {
  let stage: Stage;
  let copy: TestApp;
  let path: string;
  let document: unknown;
  let waiting: string | undefined;

  const get = (of: string) => copy.call('GET', of, { token: stage.token });

  before(async () => {
    stage = await openStage();
    const { app, token } = stage;
    await addHook(stage, 'in');
    await addHook(stage, 'later', { cooldownMs: 1 });
    await addHook(stage, 'nightly', { trigger: 'schedule', triggerConfig: { cron: '0 3 * * *' } });
    const { documents } = (await upload(app, token, [{ name: 'birds.txt', content: CONTENT }]))
      .body;
    path = `/api/documents/${documents[0]?.id}`;
    const read = () => app.call('GET', path, { token });
    document = (await until(read, ({ body }) => body.status === 'completed')).body;
    // The execution stays queued, as after a kill.
    await inside(app.app).queue.stop(0);
    [waiting] = await deliver(app.url, 'later');
    const { file } = await stage.made();
    const home = join(stage.folder, 'home');
    await restoreFile({ home, file, passphrase: PASSPHRASE }, () => undefined).done;
    copy = await startApp({ home });
  });
  after(async () => {
    await copy.stop();
    await stage.stop();
  });

  it('has the documents with their originals', async () => {
    const found = [(await get(path)).body, (await get(`${path}/content`)).text];
    expect(found).to.equal([document, CONTENT]);
    expect((await get(`${path}/pages/1`)).body.text).to.equal(CONTENT);
  });

  it('has the accounts, the secrets and an audit log without a fault', async () => {
    expect((await get('/api/auth/me')).body.username).to.equal('ada');
    expect((await deliver(copy.url, 'in')).length).to.equal(1);
    expect((await get('/api/admin/audit/verify')).body.ok).to.be.true();
  });

  it('does nothing by itself', async () => {
    const { hooks } = (await get('/api/hooks')).body;
    const enabled = hooks.map(({ name, enabled: is }: { name: string; enabled: boolean }) => [
      name,
      is,
    ]);
    expect(enabled).to.equal([
      ['nightly', false],
      ['later', true],
      ['in', true],
    ]);
    expect((await get(`/api/hooks/executions/${waiting}`)).body.status).to.equal('interrupted');
  });
});
