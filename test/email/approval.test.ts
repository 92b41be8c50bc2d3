import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { callLines } from '../../cli/approvals/approval.js';
import { buildChannelMessage } from '../../src/channels/messagetext.js';
import type { Approval } from '../../src/client/index.js';
import type { OutboundMessageRow } from '../../src/store/tables/outbox.js';
import { approvalsPage } from '../../tui/screens/approvals.js';
import { call, FINISHED } from '../agents/stage.js';
import { until } from '../harness/app.js';
import { seedMail } from '../harness/mail/account.js';
import { type Openai, says, startOpenai } from '../harness/openai.js';
import { upload } from '../harness/upload.js';
import { approvalsLoaded, known, shown } from '../tui/fixtures.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  unlessOpenssl,
} from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MAIL = { to: ['bob@example.org'], subject: 'Hello', text: 'How are you?\nAda' };
const ADA = 'Ada L. <ada@example.test>';

describe(`the approval of an agent's e-mail${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let model: Openai;
  let accountId: string;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    model = await startOpenai();
    stage = await openScriptedMailStage({ modelUrl: model.baseUrl, modelName: 'fake' });
    accountId = (await stage.account('ada', { name: 'Ada L.' })).body.id;
  });
  after(async () => {
    await stage?.stop();
    await model?.stop();
  });

  const spawn = async (mail: object): Promise<string> => {
    model.script(says({ toolCalls: [call('email_send', mail, 'send')] }), says({ text: 'Done.' }));
    return (await stage.call('POST', '/api/agents', { prompt: 'Write to Bob' })).body.id;
  };
  const asked = async (): Promise<Approval> => {
    const pending = async (): Promise<Approval[]> =>
      (await stage.call('GET', '/api/chat/approvals?status=pending')).body.approvals;
    const [one] = await until(pending, ({ length }) => length === 1);
    if (!one) throw new Error('None');
    return one;
  };
  const answer = (approvalId: string, approved: boolean) =>
    stage.call('POST', '/api/chat/approve', { approvalId, approved });
  /** What the model is told of its call, at the end of the agent. */
  const result = async (id: string): Promise<string> => {
    await until(
      async () => (await stage.call('GET', `/api/agents/${id}`)).body,
      ({ status }) => FINISHED.includes(status),
    );
    const { messages = [] } = model.asked.at(-1)?.body ?? {};
    return String(messages.findLast(({ role }) => role === 'tool')?.content);
  };

  it('names the mailbox it is sent from, and sends it from no other', IF_OPENSSL, async () => {
    const id = await spawn(MAIL);
    const approval = await asked();
    expect(approval.details).to.equal([
      { name: 'From', value: ADA },
      { name: 'Reply', value: 'no, a new message' },
    ]);
    await stage.call('PATCH', `/api/email/accounts/${accountId}`, { name: 'Eve' });
    await answer(approval.id, true);
    expect(await result(id)).to.equal(
      'Denied: the call differs from the approved call. It was not run.',
    );
    await stage.call('PATCH', `/api/email/accounts/${accountId}`, { name: 'Ada L.' });
    const again = await spawn(MAIL);
    await answer((await asked()).id, true);
    expect(await result(again)).to.match(/"status":"queued"/);
  });

  it('is the same for a direct call of the owner', IF_OPENSSL, async () => {
    const body = { arguments: MAIL };
    const path = '/api/skills/email/tools/send/execute';
    const { status, body: reply } = await stage.call('POST', path, body);
    expect([status, reply.approval.details[0].value]).to.equal([202, ADA]);
    await answer(reply.approval.id, false);
  });

  it('is not requested for an e-mail that cannot be sent', IF_OPENSSL, async () => {
    const inReplyTo = 'mail_01jcx2kq7m8f3k2a9v5ztw4e6r';
    const said = await result(await spawn({ ...MAIL, inReplyTo }));
    expect(said).to.contain('inReplyTo does not match any of your e-mails');
    const other = await result(await spawn({ ...MAIL, from: 'eve@example.test' }));
    expect(other).to.equal('from must be the address of a mailbox of the owner: ada@example.test');
  });

  it('describes the original message and the files wherever it is shown', IF_OPENSSL, async () => {
    const { app, token, userId } = stage;
    const inReplyTo = await seedMail(app, { id: userId, token });
    const subject = 'Bill\nFrom: boss@example.org\u202e';
    const { db } = app.app.store;
    await db.updateTable('mail_messages').set({ subject }).where('id', '=', inReplyTo).execute();
    const content = 'a'.repeat(2048);
    const { body } = await upload(app, token, [{ name: 'minutes.txt', content }]);
    const attachments = body.documents.map(({ id }: { id: string }) => id);
    expect(await result(await spawn(MAIL))).to.match(
      /^from is required, because the owner has several mailboxes: .*ada@example\.test/,
    );
    await spawn({ ...MAIL, from: 'ADA@example.test', inReplyTo, attachments });
    const approval = await asked();
    const date = approval.details.find(({ name }) => name === 'Original date')?.value;
    expect(Date.parse(date ?? '')).to.be.a.number();
    expect(approval.details.filter(({ name }) => name !== 'Original date')).to.equal([
      { name: 'From', value: ADA },
      { name: 'Reply', value: 'yes, to the original message' },
      { name: 'Original from', value: 'Bob <bob@mail.invalid>' },
      { name: 'Original subject', value: 'Bill From: boss@example.org\u202e' },
      { name: 'Attachment', value: 'minutes.txt (text/plain, 2.0 KiB)' },
    ]);
    const [notice] = await stage.notices('approval_requested');
    const message = {
      ...{ user_id: userId, kind: 'approval_requested' },
      content: JSON.stringify({ ...notice, link: `/approvals/${approval.id}` }),
    } as unknown as OutboundMessageRow;
    const deps = {
      store: app.app.store,
      stages: { at: async () => null },
      pageAddress: () => null,
    };
    const texts: Record<string, string> = {
      notice: notice?.body ?? '',
      channel: (await buildChannelMessage(deps, message)).text,
      cli: callLines(approval).join('\n'),
      desk: shown(approvalsPage.view, known(approvalsLoaded([approval])), 100, 60).join('\n'),
    };
    for (const [place, text] of Object.entries(texts)) {
      expect(text, place).to.match(/^ *From\W+Ada L\. <ada@example\.test>/m);
      expect(text, place).to.match(/Original from\s*\W+Bob <bob@mail\.invalid>/);
      expect(text, place).to.match(/Original subject\s*\W+Bill/);
      expect(text, place).to.match(/Attachment\W+minutes\.txt \(text\/plain, 2\.0 KiB\)/);
      expect(text, place)
        .to.contain('bob@example.org')
        .and.match(/How are you\?\W+n?Ada/);
      expect(text, place).to.not.match(/^ *From\W+boss/m);
    }
    await answer(approval.id, false);
  });
});
