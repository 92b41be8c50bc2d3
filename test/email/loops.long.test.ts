import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilAtLeast } from '../harness/app.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

let count = 0;
const mail = (...more: string[]): string =>
  [
    'From: Bob <bob@example.org>',
    'To: ada@example.test',
    'Subject: Hello',
    `Message-ID: <hello-${++count}@example.org>`,
    ...more,
    '',
    'Hello.',
  ].join('\r\n');

describe(`e-mails that answer e-mails${skipNote}`, () => {
  let stage: MailStage;
  let accountId: string;
  let hookId: string;

  before(async () => {
    if (missing) return;
    stage = await openMailStage();
    accountId = (await stage.account('loop')).body.id;
    const toolParams = { to: ['loop@example.test'], subject: 'Re: it', text: 'An answer.' };
    const made = await stage.call('POST', '/api/hooks', {
      ...{ name: 'answer', trigger: 'email', action: 'execute_tool' },
      actionConfig: { toolId: 'email', toolAction: 'send', toolParams },
    });
    expect(made.status, made.text).to.equal(201);
    hookId = made.body.id;
  });
  after(() => stage?.stop());

  /** Processes the mailbox; resolves to the runs of the hook, the newest first. */
  const runs = async () => {
    const begun = await stage.call('POST', '/api/email/process', { accountId });
    await until(
      async () => (await stage.call('GET', `/api/operations/${begun.body.id}`)).body,
      ({ status }) => status === 'completed',
    );
    const { executions } = await until(
      async () => (await stage.call('GET', `/api/hooks/${hookId}/executions`)).body,
      (body) =>
        body.executions.every(
          ({ status }: { status: string }) => status !== 'queued' && status !== 'running',
        ),
    );
    return executions.map(({ status, error }: { status: string; error: string | null }) => ({
      status,
      error,
    }));
  };
  /** Resolves to the newest message that has arrived at the mail server, once there are so many. */
  const sent = async (number: number): Promise<string> => {
    const { length } = await untilAtLeast(async () => stage.smtp.taken, number);
    expect(length).to.equal(number);
    return stage.smtp.taken.at(-1)?.text ?? '';
  };

  it('end with the first answer, which fires no hook', IF_INSTALLED, async () => {
    await stage.dovecot.deliver('loop', mail());
    expect(await runs()).to.equal([{ status: 'success', error: null }]);
    const answer = await sent(1);
    expect(answer).to.contain('Auto-Submitted: auto-generated\r\n');
    expect(answer).to.contain('X-Adjutant-Hops: 1\r\n');
    expect((await runs()).length).to.equal(1);
    await sent(1);
  });

  it('do not answer what another program has sent', IF_INSTALLED, async () => {
    await stage.dovecot.deliver('loop', mail('Auto-Submitted: auto-replied'));
    const [newest, ...others] = await runs();
    expect(newest).to.include({ status: 'skipped' });
    expect(newest.error).to.contain('the e-mail is automatic');
    expect(others.length).to.equal(1);
    await sent(1);
  });

  it('count how often their cause has come back, and stop at ten', IF_INSTALLED, async () => {
    await stage.dovecot.deliver('loop', mail('X-Adjutant-Hops: 9'));
    expect((await runs())[0]).to.equal({ status: 'success', error: null });
    expect(await sent(2)).to.contain('X-Adjutant-Hops: 10\r\n');
    await stage.dovecot.deliver('loop', mail('X-Adjutant-Hops: 10'));
    const ended = await runs();
    expect(ended.map(({ error }: { error: string | null }) => error)).to.include(
      'loop: the trigger has passed through this daemon 10 times',
    );
    await sent(2);
  });

  it('are not begun by notices and tests of the daemon', IF_INSTALLED, async () => {
    const before = (await runs()).length;
    const notice = mail('Auto-Submitted: auto-generated', 'X-Adjutant-Hops: 1');
    await stage.dovecot.deliver('loop', notice);
    const tested = await stage.call('POST', `/api/email/accounts/${accountId}/test`);
    expect(tested.body.ok, tested.text).to.be.true();
    expect((await runs()).length).to.equal(before);
  });

  it('are sent as a person’s where a person sends them', IF_INSTALLED, async () => {
    const message = { to: ['bob@example.org'], subject: 'By hand', text: 'Hello.' };
    const before = stage.smtp.taken.length;
    expect((await stage.call('POST', '/api/email/send', message)).status).to.equal(202);
    expect(await sent(before + 1)).to.not.contain('Auto-Submitted');
  });
});
