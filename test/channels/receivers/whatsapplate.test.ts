import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../../agents/stage.js';
import { until, untilAtLeast } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { openForSuite } from '../../harness/suite.js';
import * as cloud from '../../harness/whatsapp.js';
import { deliver, forget, moveOn, movingClock, setUp } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const DAY_MS = 24 * 3600_000;
/** A test takes less. */
const MINUTE_MS = 60_000;
const FIELDS = {
  appSecret: cloud.APP_SECRET,
  verifyToken: cloud.VERIFY_TOKEN,
  phoneNumberId: cloud.PHONE_NUMBER_ID,
  accessToken: cloud.ACCESS_TOKEN,
};
const TEMPLATE = { name: 'assistant_news', language: 'en', words: 'News: {{1}} Answer to talk.' };
const LATE = { code: 131047, title: 'Re-engagement message' };

describe('WhatsApp, a day after the last message from there', () => {
  const stage = openForSuite(lab, () => startStage({}, clock));
  let whatsapp: Awaited<ReturnType<typeof cloud.openWhatsapp>>;
  let channelId: string;

  const clock = movingClock();
  beforeEach(async () => {
    whatsapp = await cloud.openWhatsapp();
    whatsapp.templates.push(TEMPLATE);
    const values = { ...FIELDS, templateName: TEMPLATE.name };
    await setUp(stage, 'whatsapp', { baseUrl: whatsapp.baseUrl, values });
    ({ id: channelId } = await linkChannel(stage, stage.userId, {
      ...{ kind: 'whatsapp', ...cloud.ADA },
    }));
    await until(statuses, ([row]) => row?.status === 'sent');
    await stage.app.store.db.deleteFrom('sendings').execute();
    whatsapp.sent.length = 0;
  });
  afterEach(async () => {
    await forget(stage);
    whatsapp.close();
    await moveOn(stage, clock);
  });

  const sent = (count: number) => untilAtLeast(async () => whatsapp.sent, count);
  const types = () => whatsapp.sent.map(({ type }) => type);
  const test = async () => (await stage.ask('POST', `/api/channels/${channelId}/test`)).body;
  const reported = (...codes: object[]) =>
    deliver(stage, '/api/messenger-webhook', cloud.became('failed', 'wamid.sent2', codes));
  const statuses = () => stage.app.store.db.selectFrom('sendings').select('status').execute();
  const sendings = () =>
    stage.app.store.db
      .selectFrom('sendings')
      .select(['status', 'receipt', 'error'])
      .where('kind', '=', 'test')
      .execute();

  it('is written to by the template, until it writes again', async () => {
    const channel = stage.app.store.db.updateTable('channels');
    /** As if it had written so long ago. */
    const wrote = async (agoMs: number) => {
      const [row] = await stage.app.store.db.selectFrom('channels').select('open_until').execute();
      expect(Date.parse(row?.open_until ?? '') - clock.now()).to.be.within(
        DAY_MS - MINUTE_MS,
        DAY_MS,
      );
      const open_until = new Date(clock.now() + DAY_MS - agoMs).toISOString();
      await channel.set({ open_until }).execute();
    };
    await wrote(DAY_MS - MINUTE_MS);
    await test();
    await channel.set({ open_until: new Date(clock.now() + DAY_MS).toISOString() }).execute();
    await wrote(DAY_MS);
    expect((await test()).status).to.equal('sent');
    expect(types()).to.equal(['text', 'template']);
    await deliver(stage, '/api/messenger-webhook', cloud.written('/help'));
    await sent(3);
    await test();
    expect(types()).to.equal(['text', 'template', 'text', 'text']);
  });

  it('is written to by the template where Meta says so, and from then on', async () => {
    whatsapp.refuse(cloud.refuse(131047));
    expect((await test()).status).to.equal('sent');
    expect((await test()).status).to.equal('sent');
    expect(types()).to.equal(['template', 'template']);
    await deliver(stage, '/api/messenger-webhook', cloud.written('/help'));
    await sent(3);
    whatsapp.refuse(cloud.refuse(470));
    await test();
    expect(types()).to.equal(['template', 'template', 'text', 'template']);
  });

  it('gets what Meta took and did not deliver once more, by the template', async () => {
    await test();
    const replies = await Promise.all([reported(LATE), reported(LATE)]);
    expect(replies.map(({ status }) => status)).to.equal([200, 200]);
    await sent(2);
    expect(types()).to.equal(['text', 'template']);
    const rows = await until(sendings, ([row]) => row?.status === 'sent');
    expect(rows).to.equal([{ status: 'sent', receipt: 'wamid.sent3', error: null }]);
    await reported(LATE);
    const refused = cloud.became('failed', 'wamid.sent3', [{ code: 132015, title: 'Paused' }]);
    await deliver(stage, '/api/messenger-webhook', refused);
    expect(types()).to.equal(['text', 'template']);
    expect((await sendings())[0]?.status).to.equal('failed');
  });

  it('says what to do where no template is set', async () => {
    await stage.ask('PUT', '/api/admin/platforms/whatsapp', { values: { templateName: null } });
    whatsapp.refuse(cloud.refuse(131047));
    const { status, error } = await test();
    expect(status).to.equal('failed');
    expect(error).to.equal(
      'WhatsApp accepts free text only within 24 hours after the last message of the user. ' +
        'Send a message from WhatsApp, then resend this one. Or an admin sets an approved template: ' +
        'adjutant channels setup whatsapp (131047)',
    );
    await test();
    await reported(LATE);
    expect((await sendings()).map((row) => row.status)).to.equal(['failed', 'failed']);
    expect(types()).to.equal(['text']);
  });
});
